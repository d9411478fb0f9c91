Console.WriteLine("Not yet.");
