using System.CommandLine;
using Treepie.CommandLine.Offline;
using Treepie.CommandLine.Queries;

namespace Treepie.CommandLine.Commands;

/// <summary>Where queries run: on a server (<c>--database</c>) or on the files of a stopped one (<c>--directory</c>).</summary>
internal static class QueryPlace
{
    public static Task<int> RunAsync(
        Shell shell, ParseResult parsed, Option<Uri> url, Option<string?> database, Option<DirectoryInfo?> directory,
        OfflineKeyOptions keys, Func<IQuerySource, Task<int>> action, CancellationToken cancellationToken)
    {
        if (parsed.GetValue(directory) is not { } given)
            return TreepieCommand.RunAsync(
                shell, parsed, url, server => action(new ServerQueries(server.Database(parsed.GetValue(database) ?? ""))),
                cancellationToken);
        return OfflineCommands.RunAsync(
            shell,
            async () =>
            {
                DataDirectory data = DataDirectory.Open(given);
                using DirectoryKeys found = keys.Of(shell, data, parsed);
                using var queries = DirectoryQueries.Open(data, found, parsed.GetValue(database), cancellationToken);
                return await action(queries);
            },
            cancellationToken);
    }
}
