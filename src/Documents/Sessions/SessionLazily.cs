using System.Diagnostics.CodeAnalysis;
using Treepie.Linq;

namespace Treepie.Sessions;

/// <summary>
/// Loads that wait until a value is asked for; all that wait then, lazy queries among them, are one request, and loads see one
/// state of the database.
/// </summary>
public sealed class SessionLazily
{
    private readonly DocumentSession _session;
    private readonly LazyOperations _operations;

    internal SessionLazily(DocumentSession session, LazyOperations operations) =>
        (_session, _operations) = (session, operations);

    /// <summary>The object of a document; null if there is none.</summary>
    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = ILazyOperations.NoConstructor)]
    public Lazy<T?> Load<T>(string id)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        return _operations.Load(snapshot => SessionLoads.Of<T>(_session, [id], snapshot)[id]);
    }

    /// <summary>The objects of several documents, by the ids as given; null for those that do not exist.</summary>
    public Lazy<IReadOnlyDictionary<string, T?>> Load<T>(IEnumerable<string> ids)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(ids);
        string[] wanted = [.. ids];
        return _operations.Load<IReadOnlyDictionary<string, T?>>(
            snapshot => SessionLoads.Of<T>(_session, wanted, snapshot));
    }

    /// <summary>The objects of documents whose id starts with a prefix, in id order.</summary>
    public Lazy<IReadOnlyList<T>> LoadStartingWith<T>(string prefix, int start = 0, int pageSize = 25)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(prefix);
        return _operations.Load<IReadOnlyList<T>>(
            snapshot => SessionLoads.StartingWith<T>(
                _session, new Store.DocumentPrefix { StartsWith = prefix }, start, pageSize, snapshot()));
    }

    /// <summary>As <see cref="Load{T}(string)"/>, to be awaited.</summary>
    public Lazy<Task<T?>> LoadAsync<T>(string id)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(id);
        return _operations.LoadAsync(snapshot => SessionLoads.Of<T>(_session, [id], snapshot)[id]);
    }

    /// <summary>As <see cref="Load{T}(IEnumerable{string})"/>, to be awaited.</summary>
    public Lazy<Task<IReadOnlyDictionary<string, T?>>> LoadAsync<T>(IEnumerable<string> ids)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(ids);
        string[] wanted = [.. ids];
        return _operations.LoadAsync<IReadOnlyDictionary<string, T?>>(
            snapshot => SessionLoads.Of<T>(_session, wanted, snapshot));
    }
}
