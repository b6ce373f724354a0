"""What goes over the wire: requests, answers, and errors as problems; shared by the routes and the client."""
