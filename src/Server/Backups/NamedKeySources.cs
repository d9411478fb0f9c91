using Treepie.BackupTasks;
using Treepie.Encryption;

namespace Treepie.Server.Backups;

/// <summary>
/// Keys that requests name; where they are only the server's owner says, and only the log is told what went wrong there.
/// Thread-safe.
/// </summary>
internal sealed class NamedKeySources(TreepieServerOptions options, ILogger logger) : IBackupKeySources
{
    private readonly Dictionary<string, KeySource> _sources = new(options.KeySources, StringComparer.Ordinal);

    // What was given is not said again: it may be a key.
    public KeySource Find(string source) => _sources.TryGetValue(source, out KeySource? found)
        ? found
        : throw new KeySourceException(
            "A request gives a key source by a name that the server's owner gave it (--key-source NAME=SOURCE), and what was "
            + "given is none of these. "
            + (_sources.Count == 0
                ? "This server has none."
                : $"There are: {string.Join(", ", _sources.Keys.Order(StringComparer.Ordinal))}."));

    public KeySourceException Explain(string source, KeySourceException error)
    {
        logger.LogError(error, "The key source {KeySource} gives no key", source);
        return new KeySourceException($"The key source '{source}' of this server gives no key. The server's log says why.");
    }
}
