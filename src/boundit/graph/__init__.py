"""What do we assume? Text, edges or a networkx graph in; a ``CausalGraph`` out."""
