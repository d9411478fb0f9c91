using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Treepie.Indexing.Schema;

namespace Treepie.Indexes.Definitions;

/// <summary>
/// What an auto-index covers: one collection (or <see cref="AllDocuments"/>) and fields in the order in which queries
/// requested them. Its name is derived from these, so equal definitions have equal names. Immutable.
/// </summary>
internal sealed class AutoIndexDefinition : IndexMapping
{
    /// <summary>The name that stands for all documents.</summary>
    public const string AllDocuments = "@all_docs";

    /// <summary>The maximum number of fields of one index.</summary>
    public const int MaxFields = 512;

    /// <summary>The maximum length of a name; the rest of a longer one is replaced by a hash.</summary>
    private const int MaxNameLength = 256;

    private readonly Dictionary<AutoIndexField, int> _positions;

    /// <param name="collection">The collection, or <see cref="AllDocuments"/>.</param>
    /// <param name="fields">The fields.</param>
    /// <param name="hasHash">See <see cref="HasHash"/>.</param>
    public AutoIndexDefinition(string collection, IReadOnlyList<AutoIndexField> fields, bool hasHash = false)
    {
        HasHash = hasHash;
        Collection = collection;
        Collections = string.Equals(collection, AllDocuments, StringComparison.OrdinalIgnoreCase) ? [] : [collection];
        Fields = fields;
        Name = MakeName();
        _positions = new Dictionary<AutoIndexField, int>(fields.Count);
        for (int i = 0; i < fields.Count; i++)
            _positions.TryAdd(fields[i], i); // a stored definition with a field twice is refused where it is opened
        Schema = new IndexSchema([.. fields.Select(f => new IndexField(f.SchemaName, f.Analysis, Vector: f.Vector))]);
    }

    public string Collection { get; }

    /// <summary>
    /// Whether its name ends with a hash of its collection and fields, because another index has the name without: names do not
    /// distinguish letters by case, nor <c>@all_docs</c> from a collection <c>AllDocs</c>.
    /// </summary>
    public bool HasHash { get; }

    /// <summary>This definition with a hash in its name.</summary>
    public override AutoIndexDefinition WithHash => new(Collection, Fields, hasHash: true);

    public override IReadOnlyList<string> Collections { get; }

    public override IReadOnlyList<AutoIndexField> Fields { get; }

    /// <summary>The name, such as <c>Auto/Users/ByNameAndAge</c>.</summary>
    public override string Name { get; }

    public override IndexSchema Schema { get; }

    public override bool IsMadeByQueries => true;

    public bool IsFor(string collection) => string.Equals(Collection, collection, StringComparison.OrdinalIgnoreCase);

    /// <summary>Returns whether a query that uses these fields of its collection can be answered.</summary>
    public bool Covers(IReadOnlyList<AutoIndexField> fields)
    {
        for (int i = 0; i < fields.Count; i++)
            if (!_positions.ContainsKey(fields[i]))
                return false;

        return true;
    }

    /// <summary>Returns the position of a field; -1 if it is not included.</summary>
    public int PositionOf(AutoIndexField field) => _positions.TryGetValue(field, out int position) ? position : -1;

    public override AutoIndexField? Resolve(AutoIndexField wanted) =>
        PositionOf(wanted) is >= 0 and var position ? Fields[position] : null;

    public override bool IsSameAs(IndexMapping other) =>
        other is AutoIndexDefinition auto && auto.IsFor(Collection) && auto.Fields.SequenceEqual(Fields);

    /// <summary>Returns a definition with the fields of this one, followed by the new ones.</summary>
    public AutoIndexDefinition Merge(IEnumerable<AutoIndexField> fields) =>
        new(Collection, [.. Fields, .. fields.Where(f => PositionOf(f) < 0).Distinct()], HasHash);

    private string MakeName()
    {
        string source = Collections.Count == 0 ? "AllDocs" : Collection;
        string name = Fields.Count == 0
            ? $"Auto/{source}"
            : $"Auto/{source}/By{string.Join("And", Fields.Select(f => f.NamePart))}";
        if (name.Length <= MaxNameLength && !HasHash)
            return name;

        string hashed = HasHash
            ? string.Concat(Fields.Select(f => $"{f.SchemaName.Length}:{f.SchemaName}").Prepend($"{Collections.Count}:{source}/"))
            : name;
        string hash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(hashed)).AsSpan(0, 8));
        int kept = Math.Min(name.Length, MaxNameLength - hash.Length - 1);
        if (char.IsHighSurrogate(name[kept - 1]))
            kept--;

        return string.Create(CultureInfo.InvariantCulture, $"{name.AsSpan(0, kept)}-{hash}");
    }
}
