using Treepie.Indexes.Fields;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// Reads maps in C# or JavaScript that compute nothing but name fields and the paths of their values. They are equivalent to
/// definitions by path and run as such. Everything else is rejected, with the position of the first expression that
/// computes.
/// <code>
/// from o in docs.Orders select new { o.Company, City = o.ShipTo.City, Product = o.Lines.Select(l => l.Product) }
/// docs.Orders.Select(o => new { o.Company, Where = CreateSpatialField(o.Lat, o.Lng) })
/// map('Orders', o => ({ Company: o.Company, City: o.ShipTo.City, Product: o.Lines.map(l => l.Product), Id: id(o) }))
/// map('Orders', function (o) {
///     return { Company: o.Company, Collection: getMetadata(o)['@collection'], V: createVector(o.Embedding) }; })
/// </code>
/// </summary>
internal sealed class PathMap
{
    private readonly string _indexName;
    private readonly MapTokens _tokens;
    private string _alias = "";

    private PathMap(string indexName, string text)
    {
        _indexName = indexName;
        _tokens = new MapTokens(indexName, text);
    }

    /// <summary>The collection; null for all documents.</summary>
    public string? Collection { get; private set; }

    /// <summary>Its fields, each with its path or spatial source.</summary>
    public List<IndexFieldDefinition> Fields { get; } = [];

    /// <exception cref="InvalidIndexDefinitionException">The map computes, or is not a map.</exception>
    public static PathMap Read(string indexName, string text)
    {
        var map = new PathMap(indexName, text);
        if (map._tokens.Take("from"))
            map.ReadQuery();
        else if (map._tokens.Take("docs"))
            map.ReadCalls();
        else if (map._tokens.Take("map"))
            map.ReadScript();
        else
            throw map._tokens.Refuse("a map begins with 'from … in docs.…', 'docs.….Select(' or 'map('");
        map._tokens.Take(";");
        if (!map._tokens.IsAtEnd)
            throw map._tokens.Refuse("there is more text after the end of the map");
        return map;
    }

    private void ReadQuery()
    {
        _alias = _tokens.Name("a name for the document");
        _tokens.Require("in");
        _tokens.Require("docs");
        ReadCollection();
        _tokens.Require("select");
        _tokens.Require("new");
        ReadMembers("=");
    }

    private void ReadCalls()
    {
        if (!_tokens.TakeCall("Select"))
            ReadCollection();
        if (Collection is not null && !_tokens.TakeCall("Select"))
            throw _tokens.Refuse("expected '.Select('");
        _alias = _tokens.Name("a name for the document");
        _tokens.Require("=>");
        _tokens.Require("new");
        ReadMembers("=");
        _tokens.Require(")");
    }

    private void ReadCollection()
    {
        if (_tokens.Take("."))
        {
            Collection = _tokens.Name("the name of a collection");
        }
        else if (_tokens.Take("["))
        {
            Collection = _tokens.Text("the name of a collection");
            _tokens.Require("]");
        }
    }

    private void ReadScript()
    {
        _tokens.Require("(");
        Collection = _tokens.Text("the name of a collection");
        if (string.Equals(Collection, AutoIndexDefinition.AllDocuments, StringComparison.OrdinalIgnoreCase))
            Collection = null;
        _tokens.Require(",");
        bool isFunction = _tokens.Take("function");
        bool hasBrackets = _tokens.Take("(");
        _alias = _tokens.Name("a name for the document");
        if (hasBrackets)
            _tokens.Require(")");
        if (!isFunction)
            _tokens.Require("=>");
        if (!isFunction && _tokens.Take("("))
        {
            ReadMembers(":");
            _tokens.Require(")");
        }
        else
        {
            _tokens.Require("{");
            _tokens.Require("return");
            ReadMembers(":");
            _tokens.Take(";");
            _tokens.Require("}");
        }

        _tokens.Require(")");
    }

    /// <summary>Reads <c>{ a.b, c = a.d }</c>, or with ':' <c>{ c: a.d }</c>.</summary>
    private void ReadMembers(string sign)
    {
        _tokens.Require("{");
        while (!_tokens.Take("}"))
        {
            bool isQuoted = _tokens.IsText;
            string first = isQuoted ? _tokens.Text("a field") : _tokens.Name("a field");
            if (first.Length == 0)
                throw _tokens.Refuse("a field without a name");
            if (_tokens.Take(sign))
            {
                Fields.Add(ReadValue(first));
            }
            else if (sign == "=" && !isQuoted && first == _alias)
            {
                string path = ReadPath();
                Fields.Add(new IndexFieldDefinition { Name = path[(path.LastIndexOf('.') + 1)..], Path = IdOr(path) });
            }
            else
            {
                throw _tokens.Refuse($"expected a field with its value, '{first} {sign} {_alias}.…'");
            }

            if (!_tokens.Take(","))
            {
                _tokens.Require("}");
                break;
            }
        }

        if (Fields.Count == 0)
            throw _tokens.Refuse("it has no fields");
    }

    private IndexFieldDefinition ReadValue(string name)
    {
        if (_tokens.TakeFunction("CreateSpatialField"))
            return new IndexFieldDefinition { Name = name, Spatial = ReadPlace() };
        if (_tokens.TakeFunction("CreateVector"))
        {
            var vector = new IndexFieldDefinition { Name = name, Path = ReadArgument(), Vector = new VectorFieldDefinition(0) };
            _tokens.Require(")");
            return vector;
        }

        if (_tokens.TakeFunction("Id"))
        {
            _tokens.Require(_alias);
            _tokens.Require(")");
            return new IndexFieldDefinition { Name = name, Path = AutoIndexField.Id };
        }

        if (_tokens.TakeFunction("MetadataFor") || _tokens.TakeFunction("GetMetadata"))
        {
            _tokens.Require(_alias);
            _tokens.Require(")");
            return new IndexFieldDefinition { Name = name, Path = $"{FieldPath.MetadataMember}.{ReadKey()}" };
        }

        _tokens.TakeCast();
        if (!_tokens.Take(_alias))
            throw _tokens.Refuse($"the value of '{name}' is not a path of '{_alias}'");
        return new IndexFieldDefinition { Name = name, Path = IdOr(ReadPath()) };
    }

    private SpatialFieldDefinition ReadPlace()
    {
        string first = ReadArgument();
        if (_tokens.Take(")"))
            return new SpatialFieldDefinition { Wkt = first };
        _tokens.Require(",");
        var place = new SpatialFieldDefinition { Latitude = first, Longitude = ReadArgument() };
        _tokens.Require(")");
        return place;
    }

    /// <summary>Reads a path of the document as the argument of a function.</summary>
    private string ReadArgument()
    {
        _tokens.TakeCast();
        _tokens.Require(_alias);
        return ReadPath();
    }

    /// <summary>Reads a key of the metadata, <c>['@collection']</c>.</summary>
    private string ReadKey()
    {
        _tokens.Require("[");
        string key = _tokens.Text("a key of the metadata");
        _tokens.Require("]");
        return key;
    }

    /// <summary>
    /// Reads the members after a name, <c>.a?.b</c>; through an array, <c>.a.Select(x => x.b)</c> is <c>a[].b</c>.
    /// </summary>
    /// <param name="members">The number of members before these, limited together with those of inner paths, so that
    /// recursion and time are bounded for long texts.</param>
    private string ReadPath(int members = 0)
    {
        string path = "";
        while (true)
        {
            if (path.Length > 0 && (_tokens.TakeCall("Select") || _tokens.TakeCall("map")))
            {
                string element = _tokens.Name("a name for the element");
                _tokens.Require("=>");
                _tokens.Require(element);
                string inner = ReadPath(members);
                _tokens.Require(")");
                return $"{path}[].{inner}";
            }

            if (!_tokens.Take(".") && !_tokens.Take("?."))
                break;
            string member = _tokens.Member();
            if (++members > FieldPath.MaxMembers)
                throw _tokens.Refuse($"a path of more than {FieldPath.MaxMembers} members");
            path = path.Length == 0 ? member : $"{path}.{member}";
        }

        return path.Length > 0 ? path : throw _tokens.Refuse("the whole document is no value: name its members");
    }

    /// <summary>Maps <c>Id</c> to the id of the document.</summary>
    private static string IdOr(string path) => path == "Id" ? AutoIndexField.Id : path;
}
