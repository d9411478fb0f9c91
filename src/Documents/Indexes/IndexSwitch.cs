using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Controls whether the indexer of an index may run. Shared by an index and its replacement, as both have the same name.
/// Thread-safe.
/// </summary>
internal sealed class IndexSwitch
{
    private readonly ChangeSignal _changed = new();
    private IndexSettings _settings;
    private volatile bool _isPaused;

    public IndexSwitch(IndexSettings settings) => _settings = settings;

    /// <summary>The settings of the index.</summary>
    public IndexSettings Settings
    {
        get => Volatile.Read(ref _settings);
        set
        {
            Volatile.Write(ref _settings, value);
            Publish();
        }
    }

    /// <summary>Whether indexing is paused, until it is resumed or the database is opened again.</summary>
    public bool IsPaused
    {
        get => _isPaused;
        set
        {
            _isPaused = value;
            Publish();
        }
    }

    /// <summary>Whether the index may run.</summary>
    public bool IsOn => !_isPaused && !Settings.IsDisabled;

    /// <summary>Completes when the index may run; usually synchronously.</summary>
    public async ValueTask WaitUntilOnAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            long seen = _changed.LastEtag;
            if (IsOn)
                return;
            await _changed.WaitAsync(seen, cancellationToken).ConfigureAwait(false);
        }
    }

    private void Publish() => _changed.Publish(_changed.LastEtag + 1);
}
