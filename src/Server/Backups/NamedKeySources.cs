using Treepie.BackupTasks;
using Treepie.Encryption;

namespace Treepie.Server.Backups;

/// <summary>
/// Resolves the key sources that requests name; where the keys are is defined in the server's options, and errors of a source
/// are only logged, not returned. Thread-safe.
/// </summary>
internal sealed class NamedKeySources(TreepieServerOptions options, ILogger logger) : IBackupKeySources
{
    private readonly Dictionary<string, KeySource> _sources = new(options.KeySources, StringComparer.Ordinal);

    // The message does not quote the given text, which may be a key.
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
