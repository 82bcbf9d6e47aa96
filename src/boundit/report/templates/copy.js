"use strict";
{
  const box = document.querySelector(".command");
  const line = document.createElement("p");
  const button = document.createElement("button");
  const said = document.createElement("output");
  line.className = "copy";
  button.type = "button";
  button.textContent = "Copy the command";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(box.innerText.trim());
      said.value = "copied";
    } catch {
      // A browser may keep pages from the clipboard; what is selected can be copied by hand.
      getSelection().selectAllChildren(box);
      said.value = "selected; copy it with the keyboard";
    }
  });
  line.append(button, said);
  box.after(line);
}
