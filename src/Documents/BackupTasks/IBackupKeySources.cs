using Treepie.Encryption;

namespace Treepie.BackupTasks;

/// <summary>What the key sources of backup tasks mean (<see cref="BackupTask.KeySource"/>). Thread-safe.</summary>
public interface IBackupKeySources
{
    /// <summary>The source, which is not read yet.</summary>
    /// <exception cref="KeySourceException">It is none. The message does not quote it: it may be the key itself.</exception>
    KeySource Find(string source);

    /// <summary>What whoever made the task is told when the source gives no key.</summary>
    KeySourceException Explain(string source, KeySourceException error);
}

/// <summary>
/// Sources as people write them; see <see cref="KeySource.Parse"/>. For programs that trust whoever makes their tasks.
/// </summary>
internal sealed class WrittenKeySources : IBackupKeySources
{
    public KeySource Find(string source) => KeySource.Parse(source);

    public KeySourceException Explain(string source, KeySourceException error) => error;
}
