using System.CommandLine;
using Treepie.Server.Hosting;

namespace Treepie.CommandLine.Commands;

/// <summary><c>treepie serve</c>: runs the server, which parses its own options.</summary>
internal static class ServeCommand
{
    private const string Name = "serve";

    /// <summary>Option names common to all commands, with the names the server uses.</summary>
    private static readonly (string Ours, string OfServer)[] _names = [("--directory", "--data"), ("--url", "--urls")];

    /// <summary>The command.</summary>
    /// <param name="shell">Where it writes.</param>
    /// <param name="arguments">The whole command line, from which the server parses its own options.</param>
    public static Command Create(Shell shell, string[] arguments)
    {
        var command = new Command(
            Name,
            "Runs a server until Ctrl-C. Takes every option of the server, such as --demo, --certificate or --backup-folder "
                + "('treepie serve -- --help' lists them). Without TLS it listens to this machine only")
        {
            new Option<string>("--directory")
            {
                Description = "The directory of the databases. Default: ./data", HelpName = "path",
            },
            new Option<string>("--url")
            {
                Description = "The address to listen on; port 0 takes a free one. Default: http://127.0.0.1:8080",
                HelpName = "address",
            },
        };
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction((_, cancellationToken) =>
            new ServerProgram(Console.In, shell.OutputText, shell.Error, advice: Advice)
                .RunAsync(OfServer(arguments), cancellationToken));
        return command;
    }

    /// <summary>Translates the options to those of the server.</summary>
    internal static string[] OfServer(string[] arguments)
    {
        int command = Array.IndexOf(arguments, Name);
        return [.. arguments.Where((argument, i) => i != command && argument != "--").Select(Renamed)];
    }

    private static string Renamed(string argument)
    {
        foreach ((string ours, string ofServer) in _names)
        {
            if (argument == ours || argument.StartsWith(ours + "=", StringComparison.Ordinal))
                return ofServer + argument[ours.Length..];
        }

        return argument;
    }

    private static string Advice(string url) => $"""
        Next, in another terminal:
          treepie databases create shop --url {url}
          treepie import orders.ndjson -d shop -c Orders --url {url}
          treepie query "from Orders limit 5" -d shop --url {url}
        Ctrl-C stops the server.
        """;
}
