using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// What tells the indexer of one index whether to work. Shared by the index that answers and the one that will take its place, as
/// both have the same name. Thread-safe.
/// </summary>
internal sealed class IndexSwitch
{
    private readonly ChangeSignal _changed = new();
    private IndexSettings _settings;
    private volatile bool _isPaused;

    public IndexSwitch(IndexSettings settings) => _settings = settings;

    /// <summary>What is set of the index.</summary>
    public IndexSettings Settings
    {
        get => Volatile.Read(ref _settings);
        set
        {
            Volatile.Write(ref _settings, value);
            Publish();
        }
    }

    /// <summary>Whether it takes no changes until it is said to go on, or the database is opened again.</summary>
    public bool IsPaused
    {
        get => _isPaused;
        set
        {
            _isPaused = value;
            Publish();
        }
    }

    /// <summary>Whether the index may work.</summary>
    public bool IsOn => !_isPaused && !Settings.IsDisabled;

    /// <summary>Completes when the index may work; at once, mostly.</summary>
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
