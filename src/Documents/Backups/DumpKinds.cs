using System.Text;
using System.Text.Json;
using Treepie.Kinds;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// The sections of a dump with related data (counters, attachments and the like): one for each kind, in the form of RavenDB's
/// tools with etag and time added, and one of this program's own for deletions. They are written, read and hashed in this
/// order.
/// </summary>
internal static class DumpKinds
{
    /// <summary>Documents, and everything that belongs to a document.</summary>
    public const BackupContent OfDocuments = BackupContent.Documents | BackupContent.Counters | BackupContent.Attachments
        | BackupContent.TimeSeries | BackupContent.RevisionDocuments;

    /// <summary>The sections, and the contents that must be requested for each to be included.</summary>
    public static IReadOnlyList<(Kind Kind, string Section, BackupContent Content)> All { get; } =
    [
        (Kind.CompareExchange, "CompareExchange", BackupContent.CompareExchange),
        (Kind.Counter, "CounterGroups", BackupContent.Counters),
        (Kind.Attachment, "TreepieAttachments", BackupContent.Attachments | BackupContent.Documents),
        (Kind.TimeSeries, "TreepieTimeSeries", BackupContent.TimeSeries),
        (Kind.Revision, DumpRevisions.Section, BackupContent.RevisionDocuments),
        (Kind.Setting, "TreepieSettings", BackupContent.Settings),
    ];

    /// <summary>Returns the kind of data in a section; null for any other section.</summary>
    public static Kind? OfSection(string section) => section switch
    {
        "Counters" => Kind.Counter,
        DumpRevisions.RawSection => Kind.Revision,
        _ => All.Where(known => known.Section == section).Select(static known => (Kind?)known.Kind).FirstOrDefault(),
    };

    /// <summary>The name of the section of deletions.</summary>
    public const string Deletions = "TreepieDeletions";

    private const string Etag = "TreepieEtag", Time = "LastModified";

    /// <summary>Writes an item.</summary>
    /// <param name="json">The writer.</param>
    /// <param name="key">The key of the item.</param>
    /// <param name="record">The item.</param>
    /// <param name="documentId">The id of the document it belongs to; empty if none.</param>
    /// <param name="changeVectors">The change vectors of the database.</param>
    public static void Write(
        Utf8JsonWriter json, ReadOnlySpan<byte> key, KindRecord record, ReadOnlySpan<byte> documentId,
        ChangeVectors changeVectors)
    {
        json.WriteStartObject();
        switch (KindKey.KindOf(key))
        {
            case Kind.CompareExchange:
                WriteCompareExchange(json, record, changeVectors);
                break;
            case Kind.Counter:
                WriteCounter(json, record, documentId, changeVectors);
                break;
            case Kind.Attachment:
                WriteAttachment(json, record, documentId);
                break;
            default:
                WriteRaw(json, key, record);
                break;
        }

        json.WriteNumber(Etag, record.Etag);
        json.WriteString(Time, DumpJson.FormatTime(record.Ticks));
        json.WriteEndObject();
    }

    /// <summary>Writes a deletion.</summary>
    public static void WriteDeletion(Utf8JsonWriter json, ReadOnlySpan<byte> key, KindRecord record)
    {
        json.WriteStartObject();
        json.WriteBase64String("Key"u8, key);
        json.WriteString("Name"u8, record.Name);
        json.WriteNumber(Etag, record.Etag);
        json.WriteString(Time, DumpJson.FormatTime(record.Ticks));
        json.WriteEndObject();
    }

    /// <summary>
    /// Reads the items of an element: one, or several in a dump of another program. Items without an etag get one from
    /// <paramref name="nextEtag"/>.
    /// </summary>
    public static IEnumerable<RestoredKind> Read(Kind kind, JsonElement json, Func<long> nextEtag, long nowTicks)
    {
        bool isOwn = json.TryGetProperty(Etag, out JsonElement own);
        long ticks = isOwn ? DumpJson.Time(json, Time).Ticks : nowTicks;
        foreach ((
            byte[] key, byte[] name,
            byte[] value) in kind switch
            {
                Kind.CompareExchange => ReadCompareExchange(json),
                Kind.Counter =>
                ReadCounters(json),
                Kind.Attachment => ReadAttachment(json),
                _ => ReadRaw(kind, json)
            })
            yield return new RestoredKind(key, name, value, isOwn ? own.GetInt64() : nextEtag(), ticks, IsDeleted: false);
    }

    /// <summary>Reads a deletion.</summary>
    public static RestoredKind ReadDeletion(JsonElement json)
    {
        byte[] key = ReadKey(json);
        if (!All.Any(known => known.Kind == KindKey.KindOf(key)))
            throw new FormatException("the key of a deletion is none");
        return new RestoredKind(
            key, Encoding.UTF8.GetBytes(DumpJson.Text(json, "Name")), default, json.GetProperty(Etag).GetInt64(),
            DumpJson.Time(json, Time).Ticks, IsDeleted: true);
    }

    private static byte[] ReadKey(JsonElement json)
    {
        byte[] key = json.GetProperty("Key"u8).GetBytesFromBase64();
        return key.Length is >= 2 and <= KindKey.MaxBytes && key.AsSpan(1).IndexOf((byte)0) >= 0
            ? key
            : throw new FormatException("the key of a value is none");
    }

    /// <summary>Writes key and value as stored, for kinds whose form is specific to this program.</summary>
    private static void WriteRaw(Utf8JsonWriter json, ReadOnlySpan<byte> key, KindRecord record)
    {
        json.WriteBase64String("Key"u8, key);
        json.WriteString("Name"u8, record.Name);
        json.WriteBase64String("Value"u8, record.Value);
    }

    private static IEnumerable<(byte[] Key, byte[] Name, byte[] Value)> ReadRaw(Kind kind, JsonElement json)
    {
        byte[] key = ReadKey(json);
        if (KindKey.KindOf(key) != kind)
            throw new FormatException("the key of a value is of another kind");
        yield return (key, Encoding.UTF8.GetBytes(DumpJson.Text(json, "Name")), json.GetProperty("Value"u8).GetBytesFromBase64());
    }

    private static void WriteCompareExchange(Utf8JsonWriter json, KindRecord record, ChangeVectors changeVectors)
    {
        var value = CompareExchangeValue.Read(record, changeVectors);
        var text = new System.Buffers.ArrayBufferWriter<byte>();
        value.WriteTo(text);
        json.WriteString("Key"u8, record.Name);
        json.WriteString("Value"u8, text.WrittenSpan); // a string that contains JSON
    }

    private static void WriteCounter(
        Utf8JsonWriter json, KindRecord record, ReadOnlySpan<byte> documentId, ChangeVectors changeVectors)
    {
        IReadOnlyList<(Guid Database, long Value)> parts = CounterValue.Parts(record.Value);
        byte[] folded = CollectionName.Fold(record.Name);
        json.WriteString("DocId"u8, documentId);
        json.WriteString("ChangeVector"u8, changeVectors.Format(record.Etag));
        json.WriteStartObject("Values"u8);
        json.WriteStartArray("@dbIds"u8);
        foreach ((Guid database, _) in parts)
            json.WriteStringValue(ChangeVectors.TextOf(database));
        json.WriteEndArray();
        json.WriteStartObject("@names"u8);
        json.WriteString(folded, record.Name);
        json.WriteEndObject();
        json.WriteStartObject("@vals"u8);
        json.WriteStartArray(folded);
        foreach ((_, long value) in parts)
        {
            json.WriteNumberValue(value); // for each database, its value followed by the etag of the value
            json.WriteNumberValue(record.Etag);
        }

        json.WriteEndArray();
        json.WriteEndObject();
        json.WriteEndObject();
    }

    /// <summary>Creates an attachment that a dump of another program lists in the metadata of its document.</summary>
    public static RestoredKind Attachment(string documentId, DumpedAttachment attachment, byte[] hash, long etag, long ticks)
    {
        byte[] owner = CollectionName.Fold(DocumentId.Encode(documentId, DocumentId.MaxBytes)),
            name = KindNames.Encode("an attachment of the backup", attachment.Name);
        return new RestoredKind(
            KindKey.OfName(Kind.Attachment, owner, name), name,
            AttachmentRecord.Encode(hash, attachment.SizeBytes, attachment.ContentType), etag, ticks, IsDeleted: false);
    }

    private static void WriteAttachment(Utf8JsonWriter json, KindRecord record, ReadOnlySpan<byte> documentId)
    {
        var attachment = new AttachmentRecord(record.Value);
        json.WriteString("DocId"u8, documentId);
        json.WriteString("Name"u8, record.Name);
        json.WriteBase64String("Hash"u8, attachment.Hash);
        json.WriteString("ContentType"u8, attachment.ContentType);
        json.WriteNumber("Size"u8, attachment.SizeBytes);
    }

    private static IEnumerable<(byte[] Key, byte[] Name, byte[] Value)> ReadAttachment(JsonElement json)
    {
        byte[] hash = json.GetProperty("Hash"u8).GetBytesFromBase64();
        if (hash.Length != ContentRecord.HashBytes)
            throw new FormatException("the hash of an attachment is none");
        string type = DumpJson.Text(json, "ContentType");
        KindNames.EncodeType("of the backup", type); // validates it
        RestoredKind read = Attachment(
            DumpJson.Text(json, "DocId"),
            new DumpedAttachment(
                DumpJson.Text(json, "Name"), "", type, json.GetProperty("Size"u8).GetInt64()),
            hash, 0, 0);
        yield return (read.Key.ToArray(), read.Name.ToArray(), read.Value.ToArray());
    }

    private static IEnumerable<(byte[] Key, byte[] Name, byte[] Value)> ReadCompareExchange(JsonElement json)
    {
        byte[] name = KindNames.Encode(
            "a compare-exchange value of the backup", DumpJson.Text(json, "Key"),
            DocumentId.MaxBytes + CompareExchangeValue.AtomicGuardPrefix.Length);
        JsonElement given = json.GetProperty("Value"u8);
        yield return (
            KindKey.Of(Kind.CompareExchange, default, CollectionName.Fold(name)), name,
            CompareExchangeValue.Parse(given.ValueKind == JsonValueKind.String ? given.GetString()! : given.GetRawText()));
    }

    private static IEnumerable<(byte[] Key, byte[] Name, byte[] Value)> ReadCounters(JsonElement json)
    {
        byte[] owner = CollectionName.Fold(DocumentId.Encode(DumpJson.Text(json, "DocId"), DocumentId.MaxBytes));
        if (!json.TryGetProperty("Values"u8, out JsonElement values)
            || !values.TryGetProperty("@vals"u8, out JsonElement counters))
        {
            // the form that RavenDB wrote before it had counter groups
            if (json.TryGetProperty("Name"u8, out JsonElement old) && json.TryGetProperty("Value"u8, out JsonElement number))
            {
                byte[] oldName = KindNames.Encode("a counter of the backup", old.GetString());
                yield return (
                    KindKey.OfName(Kind.Counter, owner, oldName), oldName,
                    CounterValue.WithPart([], Guid.Empty, number.GetInt64()));
            }

            yield break;
        }

        Guid[] databases = [
            .. values.GetProperty("@dbIds"u8)
                .EnumerateArray()
                .Select(static id => new Guid(Convert.FromBase64String((id.GetString() ?? "") + "==")))];
        bool hasNames = values.TryGetProperty("@names"u8, out JsonElement names);
        foreach (JsonProperty counter in counters.EnumerateObject())
        {
            if (counter.Value.ValueKind != JsonValueKind.Array)
                continue; // the change vector of a deletion
            string text = hasNames && names.TryGetProperty(counter.Name, out JsonElement spelled)
                ? spelled.GetString() ?? counter.Name
                : counter.Name;
            byte[] name = KindNames.Encode("a counter of the backup", text), parts = [];
            for (int i = 0; i < databases.Length && 2 * i < counter.Value.GetArrayLength(); i++)
                parts = CounterValue.WithPart(parts, databases[i], counter.Value[2 * i].GetInt64());
            RequireSum(parts, text);
            yield return (KindKey.OfName(Kind.Counter, owner, name), name, parts);
        }
    }

    /// <summary>Requires that a counter has a value: one without could be neither read nor changed.</summary>
    private static void RequireSum(ReadOnlySpan<byte> parts, string name)
    {
        try
        {
            CounterValue.Sum(parts);
        }
        catch (OverflowException error)
        {
            throw new FormatException($"the parts of the counter '{name}' add up to more than 64 bits", error);
        }
    }
}
