using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Treepie.Indexes.Definitions;
using Treepie.Indexing.Schema;

namespace Treepie.Indexes.Grouping;

/// <summary>
/// An auto-index created by a query with <c>group by</c>: groups of documents of one collection (or all) with the same
/// values of some keys, each with its count and the sums, least and greatest values of some fields. Every key, the count and
/// every aggregate is a field; further fields are keys indexed as full text or case-sensitive. Its name is derived from these,
/// so equal definitions have equal names. Immutable.
/// </summary>
internal sealed class GroupDefinition : IndexMapping
{
    /// <summary>The name of the count as a field.</summary>
    public const string Count = "count()";

    /// <summary>The member of a result that holds all keys, if there is more than one.</summary>
    public const string WholeKey = "key()";

    /// <summary>The maximum number of keys.</summary>
    public const int MaxKeys = 32;

    /// <summary>The maximum number of aggregates other than the count.</summary>
    public const int MaxAggregates = 64;

    /// <summary>The maximum length of a name; the rest of a longer one is replaced by a hash.</summary>
    private const int MaxNameLength = 256;

    /// <param name="collection">The collection, or <see cref="AutoIndexDefinition.AllDocuments"/>.</param>
    /// <param name="keys">The keys, in the order of the query.</param>
    /// <param name="aggregates">The sums, least and greatest values of paths.</param>
    /// <param name="further">Fields other than the keys, the count and the aggregates.</param>
    /// <param name="hasHash">See <see cref="HasHash"/>.</param>
    public GroupDefinition(
        string collection, IReadOnlyList<GroupKey> keys, IReadOnlyList<GroupAggregate> aggregates,
        IReadOnlyList<AutoIndexField> further, bool hasHash = false)
    {
        HasHash = hasHash;
        Collection = collection;
        Collections = string.Equals(collection, AutoIndexDefinition.AllDocuments, StringComparison.OrdinalIgnoreCase)
            ? []
            : [collection];
        Keys = keys;
        Aggregates = aggregates = [.. aggregates.OrderBy(one => one.Kind)];
        Further = further;
        Fields =
        [
            .. keys.Select(key => new AutoIndexField(key.Member) { NameInIndex = key.Name }),
            new AutoIndexField(Count) { NameInIndex = Count },
            .. aggregates.Select(one => new AutoIndexField(one.Member) { NameInIndex = one.Name }),
            .. further,
        ];
        StoredFields =
        [
            .. Fields.Take(Fields.Count - further.Count)
                .Select(field => new StoredField(field.Path, field.Path, 0, IsStored: false)),
            .. WholeKeyField
        ];
        Schema = new IndexSchema([.. Fields.Select(f => new IndexField(f.SchemaName, f.Analysis))]);
        Name = MakeName();
        Reduction = new Reduction(new GroupMap(this), new GroupReduce(this));
    }

    public string Collection { get; }

    public override IReadOnlyList<string> Collections { get; }

    /// <summary>The keys, in order.</summary>
    public IReadOnlyList<GroupKey> Keys { get; }

    /// <summary>The sums, least and greatest values of paths, in this order.</summary>
    public IReadOnlyList<GroupAggregate> Aggregates { get; }

    /// <summary>Further fields: keys indexed as full text or case-sensitive, and what is computed of them.</summary>
    public IReadOnlyList<AutoIndexField> Further { get; }

    public override IReadOnlyList<AutoIndexField> Fields { get; }

    public override IReadOnlyList<StoredField> StoredFields { get; }

    /// <summary>
    /// Whether its name ends with a hash of its fields, because an index of other groups has the name without: names do not
    /// distinguish letters by case, nor the key <c>AAndB</c> from the keys <c>A</c> and <c>B</c>.
    /// </summary>
    public bool HasHash { get; }

    /// <summary>This definition with a hash in its name.</summary>
    public override GroupDefinition WithHash => new(Collection, Keys, Aggregates, Further, hasHash: true);

    /// <summary>The name, such as <c>Auto/Orders/ByCountAndFreightReducedByShipTo.City</c>.</summary>
    public override string Name { get; }

    public override IndexSchema Schema { get; }

    public override Reduction Reduction { get; }

    public override bool IsMadeByQueries => true;

    private StoredField[] WholeKeyField => Keys.Count > 1 ? [new StoredField(WholeKey, WholeKey, 0, IsStored: false)] : [];

    /// <summary>Returns whether it groups the same documents by the same keys.</summary>
    public bool GroupsAs(GroupDefinition other) =>
        string.Equals(Collection, other.Collection, StringComparison.OrdinalIgnoreCase) && Keys.SequenceEqual(other.Keys);

    /// <summary>Returns whether it answers all queries that another one answers.</summary>
    public bool Covers(GroupDefinition other) =>
        GroupsAs(other) && other.Aggregates.All(Aggregates.Contains) && other.Further.All(Further.Contains);

    /// <summary>Returns a definition with everything in this one and another one of the same groups.</summary>
    public GroupDefinition Merge(GroupDefinition other) =>
        new(Collection, Keys, [.. Aggregates.Union(other.Aggregates)], [.. Further.Union(other.Further)]);

    /// <summary>Returns this definition with all fields of a query.</summary>
    public GroupDefinition With(IEnumerable<AutoIndexField> used) =>
        new(Collection, Keys, Aggregates, [.. Further.Union(used.Except(Fields))], HasHash);

    /// <summary>Returns this definition for a collection in its original case.</summary>
    public GroupDefinition Of(string collection) => new(collection, Keys, Aggregates, Further, HasHash);

    /// <summary>Returns an existing field, or a new one for a key as full text, case-sensitive or computed.</summary>
    public override AutoIndexField? Resolve(AutoIndexField wanted)
    {
        if (wanted.Kind == AutoIndexFieldKind.Value)
            return Fields.FirstOrDefault(
                field => field.Kind == AutoIndexFieldKind.Value
                    && (field.Path == wanted.Path || field.SchemaName == wanted.Path));
        bool isOfKey = wanted.Kind is AutoIndexFieldKind.Search or AutoIndexFieldKind.Exact
            || ComputedKinds.IsComputed(wanted.Kind);
        GroupKey? key = isOfKey ? Keys.FirstOrDefault(key => key.Member == wanted.Path || key.Name == wanted.Path) : null;
        return key is null
            ? null
            : new AutoIndexField(key.Member, wanted.Kind) { NameInIndex = new AutoIndexField(key.Name, wanted.Kind).SchemaName };
    }

    public override bool IsSameAs(IndexMapping other) => other is GroupDefinition group && group.Covers(this) && Covers(group);

    private string MakeName()
    {
        string source = Collections.Count == 0 ? "AllDocs" : Collection;
        string values = string.Concat(
            Aggregates.Select(one => $"And{(one.Kind == GroupAggregateKind.Sum ? one.Path : one.Name)}"));
        string keys = string.Join(
            "And",
            Keys.Select(key => key.Name)
                .Concat(
                    Further.Select(static field => char.ToUpperInvariant(field.SchemaName[0]) + field.SchemaName[1..])));
        string name = $"Auto/{source}/ByCount{values}ReducedBy{keys}";
        if (name.Length <= MaxNameLength && !HasHash)
            return name;

        string hashed = HasHash
            ? string.Concat(Fields.Select(field => $"{field.SchemaName.Length}:{field.SchemaName}").Prepend(source))
            : name;
        string hash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(hashed)).AsSpan(0, 8));
        int kept = Math.Min(name.Length, MaxNameLength - hash.Length - 1);
        if (char.IsHighSurrogate(name[kept - 1]))
            kept--;
        return string.Create(CultureInfo.InvariantCulture, $"{name.AsSpan(0, kept)}-{hash}");
    }
}
