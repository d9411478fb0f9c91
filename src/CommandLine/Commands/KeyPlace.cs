using System.CommandLine;
using Treepie.CommandLine.Http;
using Treepie.CommandLine.Offline;

namespace Treepie.CommandLine.Commands;

/// <summary>
/// Where the database whose keys change is: on a running server, by name, or in a directory that no process has open.
/// </summary>
internal sealed class KeyPlace(string meaning)
{
    private readonly Argument<DirectoryInfo?> _directory = new("directory")
    {
        Description = meaning,
        Arity = ArgumentArity.ZeroOrOne
    };
    private readonly Option<Uri> _url = CommonOptions.Url();
    private readonly Option<string?> _database = new("--database", "-d")
    {
        Description = "Name of the database, on a server",
        HelpName = "name"
    };
    private readonly OfflineKeyOptions _keys = new();

    public void AddTo(Command command)
    {
        command.Add(_directory);
        command.Add(_database);
        command.Add(_url);
        _keys.AddTo(command);
    }

    /// <summary>Runs the action for whichever was given.</summary>
    public Task<int> RunAsync(
        Shell shell, ParseResult parsed, Func<ServerClient, string, Task> onServer, Func<DirectoryKeys, Task> onFiles,
        CancellationToken cancellationToken)
    {
        DirectoryInfo? directory = parsed.GetValue(_directory);
        string? database = parsed.GetValue(_database);
        if (directory is null == database is null)
        {
            shell.Error.WriteLine(
                "Give the directory of a database that no server is using, or --database and its server.");
            return Task.FromResult(ExitCode.Usage);
        }

        if (database is not null)
        {
            return TreepieCommand.RunAsync(
                shell,
                parsed,
                _url,
                async server =>
                {
                    await onServer(server, database);
                    return ExitCode.Ok;
                },
                cancellationToken);
        }

        return OfflineCommands.RunAsync(
            shell,
            async () =>
            {
                DataDirectory data = DataDirectory.Open(directory!); // one of the two is given
                using DirectoryKeys keys = _keys.Of(shell, data, parsed);
                await onFiles(keys);
                return ExitCode.Ok;
            },
            cancellationToken);
    }
}
