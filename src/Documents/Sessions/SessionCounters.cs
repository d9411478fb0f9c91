using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Counters of one document. Changes are made by the next save; reads see only what is saved.</summary>
public sealed class SessionCounters
{
    private readonly DocumentSession _session;
    private readonly string _documentId;

    internal SessionCounters(DocumentSession session, string documentId) => (_session, _documentId) = (session, documentId);

    /// <summary>Adds to a counter with the next save; creates the counter if it does not exist.</summary>
    /// <exception cref="InvalidDocumentException">The name is not valid.</exception>
    public void Increment(string name, long delta = 1)
    {
        KindNames.Encode("a counter", name);
        _session.Defer(
            new SessionCommand(
                batch => batch.IncrementCounter(_documentId, name, delta),
                (_documentId, new SessionChange(SessionChangeKind.CounterIncremented, name, NewValue: delta))));
    }

    /// <summary>Deletes a counter with the next save.</summary>
    /// <exception cref="InvalidDocumentException">The name is not valid.</exception>
    public void Delete(string name)
    {
        KindNames.Encode("a counter", name);
        _session.Defer(
            new SessionCommand(
                batch => batch.DeleteCounter(_documentId, name),
                (_documentId, new SessionChange(SessionChangeKind.CounterDeleted, name))));
    }

    /// <summary>Returns the value of a counter; null if it does not exist.</summary>
    public long? Get(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        _session.RequireOpen();
        if (_session.Beside?.TryCounter(_documentId, name, out long? included) == true)
            return included;
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.Counter(_documentId, name)?.Value;
    }

    /// <summary>Same as <see cref="Get(string)"/>; completes synchronously.</summary>
    public ValueTask<long?> GetAsync(string name, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Get(name));
    }

    /// <summary>Returns the values of several counters from one snapshot, by name as given; null for those that do not
    /// exist.</summary>
    public IReadOnlyDictionary<string, long?> Get(IEnumerable<string> names)
    {
        ArgumentNullException.ThrowIfNull(names);
        _session.RequireOpen();
        var values = new Dictionary<string, long?>(StringComparer.OrdinalIgnoreCase);
        var others = new List<string>();
        foreach (string name in names)
        {
            if (_session.Beside?.TryCounter(_documentId, name, out long? included) == true)
                values[name] = included;
            else
                others.Add(name);
        }

        if (others.Count == 0)
            return values;
        using DatabaseSnapshot snapshot = _session.BeginRead();
        foreach (string name in others)
            values[name] = snapshot.Counter(_documentId, name)?.Value;
        return values;
    }

    /// <summary>Same as <see cref="Get(IEnumerable{string})"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyDictionary<string, long?>> GetAsync(
        IEnumerable<string> names, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Get(names));
    }

    /// <summary>Same as <see cref="GetAll"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyDictionary<string, long>> GetAllAsync(CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(GetAll());
    }

    /// <summary>Returns all counters of the document, by name.</summary>
    public IReadOnlyDictionary<string, long> GetAll()
    {
        _session.RequireOpen();
        if (_session.Beside?.AllCounters(_documentId) is { } included)
            return included;
        using DatabaseSnapshot snapshot = _session.BeginRead();
        return snapshot.Counters(_documentId)
            .ToDictionary(counter => counter.Name, counter => counter.Value, StringComparer.OrdinalIgnoreCase);
    }
}
