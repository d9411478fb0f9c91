using Treepie.CommandLine;
using Treepie.CommandLine.Commands;

return await TreepieCommand.RunAsync(args, Shell.OfProcess());
