using Treepie.Storage;

namespace Treepie.Encryption;

/// <summary>
/// Reports the key rotations of several stores to one receiver, each under the store's name, and adds up their results.
/// </summary>
internal sealed class KeyRotationSteps(IProgress<EncryptionProgress>? progress)
{
    private readonly List<string> _holders = [];
    private long _pagesWritten;

    /// <summary>The total result of all rotations so far.</summary>
    public EncryptionReport Report => new(_pagesWritten, _holders.Count == 0, _holders);

    /// <summary>Throws if a database has no key.</summary>
    /// <exception cref="InvalidOperationException">The database is not encrypted.</exception>
    public static void RequireEncryption(string database, bool isEncrypted)
    {
        if (!isEncrypted)
            throw new InvalidOperationException(
                $"The database '{database}' is not encrypted, so it has no key to change. Encryption is chosen when a database "
                    + $"is made: make an encrypted one and copy everything to it, for instance with a backup.");
    }

    /// <summary>
    /// Rotates the key of a store; the argument of the function reports the progress, and is null if nobody receives it.
    /// </summary>
    public void Run(string store, Func<IProgress<KeyRotationProgress>?, KeyRotationReport> rotate)
    {
        KeyRotationReport report = rotate(progress is null ? null : new Step(store, progress));
        _pagesWritten += report.PagesWritten;
        if (!report.IsComplete)
            _holders.AddRange(report.Holders.Select(holder => $"{store}: {holder}"));
    }

    private sealed class Step(string store, IProgress<EncryptionProgress> progress) : IProgress<KeyRotationProgress>
    {
        public void Report(KeyRotationProgress value) =>
            progress.Report(new EncryptionProgress(store, value.PagesWritten, value.PagesTotal));
    }
}
