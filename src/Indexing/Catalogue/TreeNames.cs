using System.Globalization;

namespace Treepie.Indexing.Catalogue;

/// <summary>
/// The trees of an index. Each dictionary is a pair: terms with their values (a TermTree), and segments of long lists.
/// <code>
/// TREE                   KEY                                       VALUE
/// index                  "state", "schema", field (4)              IndexState, SchemaRecord, FieldStatistics
/// index                  "backfill"                                BackfillRecord, while fields are added
/// index                  "compounds"                               CompoundRecord
/// errors                 key of an entry that is missing           ErrorRecord
/// keys                   a TermTree: key of an entry               entry id, big-endian, without leading zeros
/// entries                id of a first entry (8, big-endian)       EntryBlock
/// lists, .postings       field + 1 (4, big-endian), ListKind (1)   entries that exist, have the field, have a null
/// terms.N, .postings     stored form of a term                     TermPayload, including the texts of numbers; empty for a
///                                                                  field of only numbers, see IndexView.HasNumbersAlone
/// terms.N.positions      PositionKey                               full-text fields: positions
/// terms.N.impacts        see WindowImpacts                         full-text fields: largest impacts
/// words.N                number of a word (8, big-endian)          full-text fields: stored form of the word
/// numbers.N, .postings   NumberKey                                 TermPayload
/// sort.N                 chunk number                              SortChunk
/// sorttexts.N            entry id / 2,048                          TextBlock, which replaces chunks
/// sortnumbers.N          entry id / 4,096                          NumberBlock, which replaces chunks
/// longtexts.N            TermForm.HashOf of a cut term             the whole term, for fields of whole values
/// norms.N                chunk number                              NormChunk
/// points.N               chunk number                              PointChunk
/// shapes.N               entry id                                  GeometryRecord
/// cells.N, covers.N      SpatialKey                                see there
/// vectors.N, links.N     VectorKey                                 VectorNode, links of VectorGraph (and VectorState)
/// fullvectors.N          VectorKey                                 the numbers of a vector, floats, little-endian
/// nodes.N                entry id                                  NodeList
/// compound.N             CompoundKeyText                           key of the entry, or nothing; N is the place in CompoundRecord
/// stored                 entry id                                  StoredRecord, for entries with stored values
/// </code>
/// </summary>
internal static class TreeNames
{
    /// <summary>Number of fields whose tree names are created once; most indexes have no more fields.</summary>
    private const int NamedFields = 32;

    private static readonly string[] _termTrees = Named("terms");
    private static readonly string[] _numberTrees = Named("numbers");
    private static readonly string[] _sortTrees = Named("sort");
    private static readonly string[] _sortTextTrees = Named("sorttexts");
    private static readonly string[] _sortNumberTrees = Named("sortnumbers");
    private static readonly string[] _longTextTrees = Named("longtexts");
    private static readonly string[] _normTrees = Named("norms");
    private static readonly string[] _compoundTrees = Named(CompoundStructure);

    /// <summary>Prefix of the names of compound key trees; the number after it is not that of a field.</summary>
    public const string CompoundStructure = "compound";

    public const string Index = "index";
    public const string Errors = "errors";
    public const string Keys = "keys";
    public const string Entries = "entries";
    public const string Lists = "lists";
    public const string Stored = "stored";

    public static string Terms(int field) => field < NamedFields ? _termTrees[field] : Of("terms", field);

    public static string Words(int field) => Of("words", field);

    public static string Numbers(int field) => field < NamedFields ? _numberTrees[field] : Of("numbers", field);

    public static string Sort(int field) => field < NamedFields ? _sortTrees[field] : Of("sort", field);

    public static string SortTexts(int field) => field < NamedFields ? _sortTextTrees[field] : Of("sorttexts", field);

    public static string SortNumbers(int field) => field < NamedFields ? _sortNumberTrees[field] : Of("sortnumbers", field);

    public static string LongTexts(int field) => field < NamedFields ? _longTextTrees[field] : Of("longtexts", field);

    public static string Norms(int field) => field < NamedFields ? _normTrees[field] : Of("norms", field);

    public static string Points(int field) => Of("points", field);

    public static string Shapes(int field) => Of("shapes", field);

    public static string Cells(int field) => Of("cells", field);

    public static string Covers(int field) => Of("covers", field);

    public static string Vectors(int field) => Of("vectors", field);

    public static string FullVectors(int field) => Of("fullvectors", field);

    public static string Links(int field) => Of("links", field);

    public static string VectorNodes(int field) => Of("nodes", field);

    public static string Compound(int number) =>
        number < NamedFields ? _compoundTrees[number] : Of(CompoundStructure, number);

    public static string Postings(string dictionary) => dictionary + ".postings";

    public static string Positions(string dictionary) => dictionary + ".positions";

    public static string Impacts(string dictionary) => dictionary + ".impacts";

    private static string[] Named(string kind) => [.. Enumerable.Range(0, NamedFields).Select(field => Of(kind, field))];

    private static string Of(string kind, int field) => kind + "." + field.ToString(CultureInfo.InvariantCulture);
}
