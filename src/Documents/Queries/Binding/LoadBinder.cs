using Treepie.Indexes.Fields;
using Treepie.Queries.Projecting;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Binding;

/// <summary>Resolves paths that begin with the name of a loaded document.</summary>
internal sealed class LoadBinder(RqlQuery query)
{
    private readonly List<LoadedDocument> _loads = [];

    /// <summary>The documents that the query loads, as far as they are bound.</summary>
    public IReadOnlyList<LoadedDocument> Loads => _loads;

    /// <summary>Binds what is loaded. The id of a document may be in one that is loaded before it.</summary>
    public void Bind(Func<LoadItem, ProjectedField> source)
    {
        foreach (LoadItem load in query.Load)
            _loads.Add(new LoadedDocument(load.Alias, source(load), load.Many));
    }

    /// <summary>Returns a value of a loaded document, or null if the path does not begin with the name of one.</summary>
    /// <param name="path">The path.</param>
    /// <param name="name">The name of the value; null for the path without the name of the document.</param>
    public ProjectedField? Find(PathExpression path, string? name = null)
    {
        int load = IndexOf(path);
        return load < 0
            ? null
            : ProjectedField.OfLoaded(
                name ?? (path.Segments.Count == 1 ? path.Segments[0].Name : string.Join('.', path.Segments.Skip(1))), load,
                Parse(path, path.ToString()));
    }

    /// <summary>Returns the id of a loaded document, or null if the path is not the name of one.</summary>
    public ProjectedField? IdOf(PathExpression path, string name = "id()") =>
        path.Segments.Count == 1 && IndexOf(path) is >= 0 and var load
            ? ProjectedField.OfLoaded(name, load, Parse(path, $"{path}.{FieldPath.MetadataMember}.@id"))
            : null;

    /// <summary>Returns the id that a path stands for: of a loaded document, or the text at the path.</summary>
    public ProjectedField IdAt(PathExpression path, FieldBinder fields) =>
        IdOf(path) ?? Find(path) ?? ProjectedField.OfPath("id()", fields.Path(path));

    private int IndexOf(PathExpression path) => _loads.FindIndex(load => load.Alias == path.Segments[0].Name);

    private FieldPath Parse(PathExpression path, string text) =>
        FieldPath.TryParse(text)
            ?? throw RqlErrors.At(
                query.Text, path.Position,
                $"'{text}' is not a path: members are apart by '.', and '[]' or '[n]' may follow them.");
}
