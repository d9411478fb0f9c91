using Treepie.Indexes.Definitions;

namespace Treepie.Indexes;

/// <summary>
/// Lock mode, priority and state of indexes. Disabling an index is persistent; pausing lasts until the database is closed.
/// Changes take effect at the next batch, at most two seconds later. Thread-safe.
/// </summary>
public sealed class IndexControl
{
    private readonly Lock _lock = new();
    private readonly IndexSettingsStore? _store;
    private readonly Func<string, string?> _findName;
    private readonly Dictionary<string, IndexSwitch> _switches = new(StringComparer.OrdinalIgnoreCase);
    private volatile bool _areAllPaused;

    /// <param name="store">The store of the settings; null: they are not stored.</param>
    /// <param name="findName">Returns the name of an index in its own case; null if it does not exist.</param>
    internal IndexControl(IndexSettingsStore? store, Func<string, string?> findName)
    {
        _store = store;
        _findName = findName;
        foreach ((string name, IndexSettings settings) in store?.ReadAll() ?? [])
            _switches[name] = new IndexSwitch(settings);
    }

    /// <summary>Whether all indexes are paused.</summary>
    public bool AreAllPaused => _areAllPaused;

    /// <summary>Returns the settings of an index; the defaults if none have been set.</summary>
    public IndexSettings Settings(string name) => Switch(name).Settings;

    /// <summary>Returns whether an index is paused, individually or with all others.</summary>
    public bool IsPaused(string name) => Switch(name).IsPaused;

    /// <summary>Changes the settings of an index; durable when the method returns.</summary>
    /// <exception cref="IndexNotFoundException">The index does not exist; nothing was changed.</exception>
    public void Set(string name, Func<IndexSettings, IndexSettings> change)
    {
        ArgumentNullException.ThrowIfNull(change);
        string known = Require(name);
        lock (_lock)
        {
            IndexSwitch target = Switch(known);
            IndexSettings settings = change(target.Settings);
            if (settings == target.Settings)
                return;
            _store?.Put(known, settings);
            target.Settings = settings;
        }
    }

    /// <summary>
    /// Pauses an index, or all, until <see cref="Resume"/> is called or the database is opened again. Paused indexes still answer
    /// queries, from what they have processed.
    /// </summary>
    /// <exception cref="IndexNotFoundException">The index does not exist.</exception>
    public void Pause(string? name = null) => SetPaused(name, true);

    /// <summary>Resumes an index, or all.</summary>
    /// <exception cref="IndexNotFoundException">The index does not exist.</exception>
    public void Resume(string? name = null) => SetPaused(name, false);

    /// <summary>Returns the switch that the indexer of a name obeys.</summary>
    internal IndexSwitch Switch(string name)
    {
        lock (_lock)
        {
            if (!_switches.TryGetValue(name, out IndexSwitch? found))
                _switches.Add(name, found = new IndexSwitch(new IndexSettings()) { IsPaused = _areAllPaused });
            return found;
        }
    }

    /// <summary>Renames an index.</summary>
    internal void Rename(string name, string newName)
    {
        lock (_lock)
        {
            if (!_switches.Remove(name, out IndexSwitch? moved))
                return;
            _switches[newName] = moved;
            if (moved.Settings != new IndexSettings())
                _store?.Delete(name, newName, moved.Settings);
        }
    }

    /// <summary>Removes the state of a deleted index.</summary>
    internal void Forget(string name)
    {
        lock (_lock)
            if (_switches.Remove(name, out IndexSwitch? gone) && gone.Settings != new IndexSettings())
                _store?.Delete(name);
    }

    private void SetPaused(string? name, bool isPaused)
    {
        string? known = name is null ? null : Require(name);
        lock (_lock)
        {
            if (known is not null)
            {
                Switch(known).IsPaused = isPaused;
                return;
            }

            _areAllPaused = isPaused;
            foreach (IndexSwitch each in _switches.Values)
                each.IsPaused = isPaused;
        }
    }

    private string Require(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return _findName(name) ?? throw new IndexNotFoundException(name);
    }
}
