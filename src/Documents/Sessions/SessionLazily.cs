using System.Diagnostics.CodeAnalysis;
using Treepie.Linq;

namespace Treepie.Sessions;

/// <summary>
/// Lazy loads: reading the first value executes everything that is pending, including lazy queries, as one request. All loads of
/// a request read from one snapshot.
/// </summary>
public sealed class SessionLazily
{
    private readonly DocumentSession _session;
    private readonly LazyOperations _operations;

    internal SessionLazily(DocumentSession session, LazyOperations operations) =>
        (_session, _operations) = (session, operations);

    /// <summary>Lazily loads an entity; the value is null if the document does not exist.</summary>
    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = ILazyOperations.NoConstructor)]
    public Lazy<T?> Load<T>(string id)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        return _operations.Load(snapshot => SessionLoads.Of<T>(_session, [id], snapshot)[id]);
    }

    /// <summary>Lazily loads several entities. The value maps each id as given to its entity, or to null.</summary>
    public Lazy<IReadOnlyDictionary<string, T?>> Load<T>(IEnumerable<string> ids)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(ids);
        string[] wanted = [.. ids];
        return _operations.Load<IReadOnlyDictionary<string, T?>>(
            snapshot => SessionLoads.Of<T>(_session, wanted, snapshot));
    }

    /// <summary>Lazily loads the entities whose ids start with a prefix, in id order.</summary>
    public Lazy<IReadOnlyList<T>> LoadStartingWith<T>(string prefix, int start = 0, int pageSize = 25)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(prefix);
        return _operations.Load<IReadOnlyList<T>>(
            snapshot => SessionLoads.StartingWith<T>(
                _session, new Store.DocumentPrefix { StartsWith = prefix }, start, pageSize, snapshot()));
    }

    /// <summary>Asynchronous version of <see cref="LoadStartingWith"/>.</summary>
    public Lazy<Task<IReadOnlyList<T>>> LoadStartingWithAsync<T>(string prefix, int start = 0, int pageSize = 25)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(prefix);
        return _operations.LoadAsync<IReadOnlyList<T>>(
            snapshot => SessionLoads.StartingWith<T>(
                _session, new Store.DocumentPrefix { StartsWith = prefix }, start, pageSize, snapshot()));
    }

    /// <summary>Asynchronous version of <see cref="Load{T}(string)"/>.</summary>
    public Lazy<Task<T?>> LoadAsync<T>(string id)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        return _operations.LoadAsync(snapshot => SessionLoads.Of<T>(_session, [id], snapshot)[id]);
    }

    /// <summary>Asynchronous version of <see cref="Load{T}(IEnumerable{string})"/>.</summary>
    public Lazy<Task<IReadOnlyDictionary<string, T?>>> LoadAsync<T>(IEnumerable<string> ids)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(ids);
        string[] wanted = [.. ids];
        return _operations.LoadAsync<IReadOnlyDictionary<string, T?>>(
            snapshot => SessionLoads.Of<T>(_session, wanted, snapshot));
    }
}
