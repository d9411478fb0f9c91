using System.Linq.Expressions;
using Treepie.Indexes.Fields;
using Treepie.Linq;
using Treepie.Queries;
using Treepie.Queries.Projecting;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>Loads documents and, from the same snapshot, the documents they refer to, which the session then has
/// cached.</summary>
/// <typeparam name="TDocument">The type whose members hold the ids.</typeparam>
public sealed class IncludeLoader<TDocument>
    where TDocument : class
{
    private readonly DocumentSession _session;
    private readonly IReadOnlyList<FieldPath> _paths;
    private readonly IReadOnlyList<BesideInclude> _beside;

    internal IncludeLoader(
        DocumentSession session, IReadOnlyList<FieldPath> paths, IReadOnlyList<BesideInclude> beside) =>
        (_session, _paths, _beside) = (session, paths, beside);

    /// <summary>Creates a loader with the includes that a function specifies.</summary>
    internal static IncludeLoader<TDocument> Of(DocumentSession session, Action<IncludeBuilder<TDocument>> includes)
    {
        ArgumentNullException.ThrowIfNull(includes);
        var builder = new IncludeBuilder<TDocument>();
        includes(builder);
        var paths = new PathTranslator(session.Queries, typeof(TDocument));
        return new IncludeLoader<TDocument>(
            session,
            [.. builder.Parts.Select(part => part.Documents(paths)).OfType<FieldPath>()],
            [.. builder.Parts.Select(part => part.Beside(paths)).OfType<BesideInclude>()]);
    }

    /// <summary>Also includes the documents that another member refers to.</summary>
    /// <exception cref="NotSupportedException">The expression does not select a member.</exception>
    public IncludeLoader<TDocument> Include(Expression<Func<TDocument, object?>> member)
    {
        ArgumentNullException.ThrowIfNull(member);
        string path = new PathTranslator(_session.Queries, typeof(TDocument)).Of(DocumentLambda.Of(member)).Text;
        return new IncludeLoader<TDocument>(
            _session, [.. _paths, FieldPath.TryParse(path) ?? throw Refusal.Of(member, "Name a member that holds an id.")],
            _beside);
    }

    /// <summary>Loads an entity by id; returns null if the document does not exist.</summary>
    public T? Load<T>(string id)
        where T : class => Load<T>([id])[id];

    /// <summary>Loads several entities. The result maps each id as given to its entity, or to null.</summary>
    public IReadOnlyDictionary<string, T?> Load<T>(IEnumerable<string> ids)
        where T : class
    {
        ArgumentNullException.ThrowIfNull(ids);
        string[] wanted = [.. ids];
        var collector = new IncludedDocuments(_paths, []);
        var beside = new BesideCollector(_beside);
        var loaded = new Dictionary<string, T?>(IdComparer.Instance);
        _session.RequireOpen();
        using (DatabaseSnapshot snapshot = _beside.Count > 0 ? _session.BeginRead() : _session.BeginDocumentRead())
        {
            foreach (string id in wanted)
            {
                if (!snapshot.TryGet(id, out Document document))
                {
                    loaded[id] = _session.Missing<T>(id);
                    continue;
                }

                collector.Collect(document);
                beside.Collect(document);
                loaded[id] = _session.Track<T>(document);
            }

            collector.Visit(snapshot, _session.Keep);
            if (_beside.Count > 0)
                _session.Keep(beside.Included, snapshot);
        }

        return loaded;
    }

    /// <summary>Same as <see cref="Load{T}(string)"/>; completes synchronously.</summary>
    public ValueTask<T?> LoadAsync<T>(string id, CancellationToken cancellationToken = default)
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
}
