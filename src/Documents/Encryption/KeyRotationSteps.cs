using Treepie.Storage;

namespace Treepie.Encryption;

/// <summary>Tells one watcher of the rotations of several stores, each by its name, and adds up what they did.</summary>
internal sealed class KeyRotationSteps(IProgress<EncryptionProgress>? progress)
{
    private readonly List<string> _holders = [];
    private long _pagesWritten;

    /// <summary>What all stores so far did.</summary>
    public EncryptionReport Report => new(_pagesWritten, _holders.Count == 0, _holders);

    /// <summary>What a store reports to; null where nobody watches.</summary>
    public IProgress<KeyRotationProgress>? Of(string store) => progress is null ? null : new Step(store, progress);

    /// <summary>Adds what a store did.</summary>
    public void Add(string store, KeyRotationReport report)
    {
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
