System.Console.WriteLine("Not yet.");
