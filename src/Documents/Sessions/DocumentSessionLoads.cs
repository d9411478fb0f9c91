using System.Globalization;
using Treepie.Linq;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>The loads of a session.</summary>
public sealed partial class DocumentSession
{
    /// <summary>
    /// Loads an entity by id. Every load of an id returns the same instance. Returns null if the document does not exist or was
    /// deleted in this session.
    /// </summary>
    /// <exception cref="TreepieException">The document cannot be deserialized to the type.</exception>
    public T? Load<T>(string id)
        where T : class
    {
        if (TryFindTracked(id, out T? entity))
            return entity;
        using DatabaseSnapshot snapshot = BeginDocumentRead();
        return Track<T>(snapshot, id);
    }

    /// <summary>
    /// Loads an entity whose id is a number after its collection's tag, as in <c>orders/42</c>. Otherwise the same as
    /// <see cref="Load{T}(string)"/>.
    /// </summary>
    /// <exception cref="TreepieException">The document cannot be deserialized to the type.</exception>
    public T? Load<T>(long id)
        where T : class => Load<T>(string.Create(CultureInfo.InvariantCulture, $"{TypeOf(typeof(T)).Tag}/{id}"));

    /// <summary>
    /// Loads an entity whose id is a Guid after its collection's tag. Otherwise the same as <see cref="Load{T}(string)"/>.
    /// </summary>
    /// <exception cref="TreepieException">The document cannot be deserialized to the type.</exception>
    public T? Load<T>(Guid id)
        where T : class => Load<T>($"{TypeOf(typeof(T)).Tag}/{id:D}");

    /// <summary>Loads several entities from one snapshot. The result maps each id as given to its entity, or to null.</summary>
    /// <exception cref="TreepieException">A document cannot be deserialized to the type.</exception>
    public IReadOnlyDictionary<string, T?> Load<T>(IEnumerable<string> ids)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(ids);
        return SessionLoads.Of<T>(this, ids);
    }

    /// <summary>Loads an entity and related data: <c>Load&lt;Order&gt;(id, i => i.IncludeCounter("likes"))</c>.</summary>
    public T? Load<T>(string id, Action<IncludeBuilder<T>> includes)
        where T : class => IncludeLoader<T>.Of(this, includes).Load<T>(id);

    /// <summary>Loads several entities together with related data.</summary>
    public IReadOnlyDictionary<string, T?> Load<T>(IEnumerable<string> ids, Action<IncludeBuilder<T>> includes)
        where T : class => IncludeLoader<T>.Of(this, includes).Load<T>(ids);

    /// <summary>Same as <see cref="Load{T}(string, Action{IncludeBuilder{T}})"/>; completes synchronously.</summary>
    public ValueTask<T?> LoadAsync<T>(
        string id, Action<IncludeBuilder<T>> includes, CancellationToken cancellationToken = default)
        where T : class => IncludeLoader<T>.Of(this, includes).LoadAsync<T>(id, cancellationToken);

    /// <summary>Same as <see cref="Load{T}(IEnumerable{string}, Action{IncludeBuilder{T}})"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyDictionary<string, T?>> LoadAsync<T>(
        IEnumerable<string> ids, Action<IncludeBuilder<T>> includes, CancellationToken cancellationToken = default)
        where T : class => IncludeLoader<T>.Of(this, includes).LoadAsync<T>(ids, cancellationToken);

    /// <summary>Same as <see cref="Load{T}(string)"/>; completes synchronously.</summary>
    public ValueTask<T?> LoadAsync<T>(string id, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Load<T>(id));
    }

    /// <summary>Same as <see cref="Load{T}(long)"/>; completes synchronously.</summary>
    public ValueTask<T?> LoadAsync<T>(long id, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Load<T>(id));
    }

    /// <summary>Same as <see cref="Load{T}(Guid)"/>; completes synchronously.</summary>
    public ValueTask<T?> LoadAsync<T>(Guid id, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Load<T>(id));
    }

    /// <summary>Same as <see cref="Load{T}(IEnumerable{string})"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyDictionary<string, T?>> LoadAsync<T>(
        IEnumerable<string> ids, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(Load<T>(ids));
    }

    /// <summary>Loads the entities whose ids start with a prefix, in id order, except those deleted in this session.</summary>
    /// <param name="prefix">Selects the documents.</param>
    /// <param name="start">The number of documents to skip.</param>
    /// <param name="pageSize">The maximum number of documents to return.</param>
    /// <exception cref="TreepieException">A document cannot be deserialized to the type.</exception>
    public IReadOnlyList<T> LoadStartingWith<T>(DocumentPrefix prefix, int start = 0, int pageSize = 25)
        where T : class
    {
        ObjectDisposedException.ThrowIf(_disposed, this);
        using DatabaseSnapshot snapshot = BeginDocumentRead();
        return SessionLoads.StartingWith<T>(this, prefix, start, pageSize, snapshot);
    }

    /// <summary>Same as <see cref="LoadStartingWith{T}(DocumentPrefix, int, int)"/>, for a prefix alone.</summary>
    public IReadOnlyList<T> LoadStartingWith<T>(string prefix, int start = 0, int pageSize = 25)
        where T : class => LoadStartingWith<T>(new DocumentPrefix { StartsWith = prefix }, start, pageSize);

    /// <summary>Same as <see cref="LoadStartingWith{T}(DocumentPrefix, int, int)"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyList<T>> LoadStartingWithAsync<T>(
        DocumentPrefix prefix, int start = 0, int pageSize = 25, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(LoadStartingWith<T>(prefix, start, pageSize));
    }

    /// <summary>Same as <see cref="LoadStartingWith{T}(string, int, int)"/>; completes synchronously.</summary>
    public ValueTask<IReadOnlyList<T>> LoadStartingWithAsync<T>(
        string prefix, int start = 0, int pageSize = 25, CancellationToken cancellationToken = default)
        where T : class
    {
        cancellationToken.ThrowIfCancellationRequested();
        return ValueTask.FromResult(LoadStartingWith<T>(prefix, start, pageSize));
    }
}
