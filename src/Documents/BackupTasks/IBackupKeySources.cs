using Treepie.Encryption;

namespace Treepie.BackupTasks;

/// <summary>Resolves the key sources of backup tasks (<see cref="BackupTask.KeySource"/>). Thread-safe.</summary>
public interface IBackupKeySources
{
    /// <summary>Returns a key source without reading it.</summary>
    /// <exception cref="KeySourceException">It is not a key source. The message does not quote the text, which may be the key
    /// itself.</exception>
    KeySource Find(string source);

    /// <summary>Returns the exception to report to the author of the task when the source yields no key.</summary>
    KeySourceException Explain(string source, KeySourceException error);
}

/// <summary>
/// Key sources as written by users; see <see cref="KeySource.Parse"/>. For programs that trust the authors of their tasks.
/// </summary>
internal sealed class WrittenKeySources : IBackupKeySources
{
    public KeySource Find(string source) => KeySource.Parse(source);

    public KeySourceException Explain(string source, KeySourceException error) => error;
}
