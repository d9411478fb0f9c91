using Treepie.Server.Hosting;

return await new ServerProgram(Console.In, Console.Out, Console.Error).RunAsync(args);
