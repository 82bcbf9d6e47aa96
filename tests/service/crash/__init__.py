"""Kill -9 under load: nothing acknowledged is lost, nothing is learned twice, replay agrees.

``python -m tests.service.crash --store sqlite --kills 100`` runs it by hand. A driver feeds
engines in processes of their own over pipes, writes down what they acknowledge, kills them at
random moments, starts others, and compares the store with what it wrote down. With
``--store postgres`` the database is killed now and then, too.
"""
