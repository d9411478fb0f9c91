using System.Linq.Expressions;
using Treepie.Indexes;
using Treepie.Indexes.Definitions;
using Treepie.Sessions;

namespace Treepie.IndexClasses;

/// <summary>
/// An index as a class: what <see cref="Index{TDocument}"/>, <see cref="Index{TDocument, TResult}"/> and
/// <see cref="MultiMapIndex{TResult}"/> share. Its expressions are written out as the C# text of an
/// <see cref="IndexDefinition"/>, so the index is identical to one defined as text.
/// </summary>
public abstract class IndexClass
{
    private readonly List<LambdaExpression> _maps = [];
    private readonly List<(LambdaExpression? Member, Func<IndexFieldDefinition, IndexFieldDefinition> Options)> _fields = [];
    private LambdaExpression? _reduce;

    private protected IndexClass()
    {
    }

    /// <summary>The name used in queries: the name of the class, with <c>_</c> replaced by <c>/</c>.</summary>
    public virtual string Name => GetType().Name.Replace('_', '/');

    /// <summary>The definition.</summary>
    /// <param name="session">How objects become documents: collections, and names of members.</param>
    /// <exception cref="NotSupportedException">An expression has no text of the same meaning; the message quotes it.</exception>
    /// <exception cref="InvalidIndexDefinitionException">The class has no map.</exception>
    public IndexDefinition ToDefinition(SessionOptions session)
    {
        ArgumentNullException.ThrowIfNull(session);
        if (_maps.Count == 0)
            throw new InvalidIndexDefinitionException(Name, "Maps", $"the class {GetType().Name} has no map.");
        var text = new ExpressionText(session);
        var fields = new Dictionary<string, IndexFieldDefinition>(StringComparer.Ordinal);
        IndexFieldDefinition? all = null;
        foreach ((LambdaExpression? member, Func<IndexFieldDefinition, IndexFieldDefinition> options) in _fields)
        {
            string name = member is null ? IndexDefinitionJson.AllFields : text.MemberOf(member);
            IndexFieldDefinition known = (member is null ? all : fields.GetValueOrDefault(name))
                ?? new IndexFieldDefinition { Name = name };
            if (member is null)
                all = options(known);
            else
                fields[name] = options(known);
        }

        return WireDefinition.OfMaps(Complete(new IndexDefinition
        {
            Name = Name,
            Maps = [.. _maps.Select(text.OfMap)],
            Reduce = _reduce is null ? null : text.OfReduce(_reduce),
            Fields = [.. fields.Values],
            AllFields = all,
        }));
    }

    /// <summary>Completes the definition: output documents, archived documents, further sources.</summary>
    protected virtual IndexDefinition Complete(IndexDefinition definition) => definition;

    /// <summary>Options of all fields that have none of their own.</summary>
    protected void AllFields(Func<IndexFieldDefinition, IndexFieldDefinition> options)
    {
        ArgumentNullException.ThrowIfNull(options);
        _fields.Add((null, options));
    }

    /// <summary>
    /// In a map: the document with this id, of which it is followed; null where there is none, or it is of another collection.
    /// </summary>
    protected static T? LoadDocument<T>(string? id) => throw OnlyInExpressions();

    /// <summary>In a map: as <see cref="LoadDocument{T}(string)"/>, of each id.</summary>
    protected static IEnumerable<T?> LoadDocument<T>(IEnumerable<string?> ids) => throw OnlyInExpressions();

    /// <summary>In a map: a compare-exchange value, which is followed; null where there is none.</summary>
    protected static T? LoadCompareExchangeValue<T>(string key) => throw OnlyInExpressions();

    /// <summary>In a map: metadata of a document; <c>MetadataFor(o)["@last-modified"]</c>.</summary>
    protected static IReadOnlyDictionary<string, object?> MetadataFor(object document) => throw OnlyInExpressions();

    /// <summary>In a map: a field whose name the document says, as a member of any name, or an array of them.</summary>
    protected static object CreateField(string name, object? value) => throw OnlyInExpressions();

    /// <summary>As above; the value may be stored, and be words rather than a whole value with case.</summary>
    protected static object CreateField(string name, object? value, bool stored, bool words) => throw OnlyInExpressions();

    /// <summary>In a map: a place.</summary>
    protected static object CreateSpatialField(double? latitude, double? longitude) => throw OnlyInExpressions();

    /// <summary>In a map: a place or shape from WKT.</summary>
    protected static object CreateSpatialField(string? wkt) => throw OnlyInExpressions();

    /// <summary>In a map: a vector, for <c>vector.search</c>.</summary>
    protected static object CreateVector(IEnumerable<float>? vector) => throw OnlyInExpressions();

    /// <summary>In a map: a result whose scores are multiplied with a weight.</summary>
    protected static T Boost<T>(T result, double weight) => throw OnlyInExpressions();

    /// <summary>In a map: a value, what a function gives for it, what it gives for that, and so on; each once.</summary>
    protected static IEnumerable<T> Recurse<T>(T start, Func<T, T?> next) => throw OnlyInExpressions();

    /// <summary>In a map: as above, where the function gives several.</summary>
    protected static IEnumerable<T> Recurse<T>(T start, Func<T, IEnumerable<T>?> next) => throw OnlyInExpressions();

    /// <summary>In a map: names of the counters of a document.</summary>
    protected static IEnumerable<string> CounterNamesFor(object document) => throw OnlyInExpressions();

    /// <summary>In a map: names of the time series of a document.</summary>
    protected static IEnumerable<string> TimeSeriesNamesFor(object document) => throw OnlyInExpressions();

    private protected void Maps(LambdaExpression map)
    {
        ArgumentNullException.ThrowIfNull(map);
        _maps.Add(map);
    }

    private protected void Reduces(LambdaExpression reduce)
    {
        ArgumentNullException.ThrowIfNull(reduce);
        _reduce = reduce;
    }

    private protected void Options(LambdaExpression member, Func<IndexFieldDefinition, IndexFieldDefinition> options)
    {
        ArgumentNullException.ThrowIfNull(member);
        ArgumentNullException.ThrowIfNull(options);
        _fields.Add((member, options));
    }

    private static InvalidOperationException OnlyInExpressions() =>
        new("This is a word of the expressions of an index, which are not run as C#.");
}
