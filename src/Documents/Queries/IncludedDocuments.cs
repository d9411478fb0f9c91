using System.Buffers;
using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Json;
using Treepie.Queries.Projecting;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// The documents that others refer to: collects the ids at paths such as <c>Company</c>, <c>Lines[].Product</c>,
/// <c>Parts.$Keys</c> or <c>Parts.$Values.Supplier</c> (the keys and the values of an object). Holds only the ids. Not
/// thread-safe.
/// </summary>
public sealed class IncludedDocuments
{
    /// <summary>The maximum number of included documents; their ids are held until they are written.</summary>
    public const int MaxIncludes = 1_000_000;

    private readonly PathTree _paths;
    private readonly bool _hasPaths;
    private readonly HashSet<string> _seen = new(StringComparer.OrdinalIgnoreCase);
    private readonly List<string> _ids = [];
    private int _next; // the index in _ids of the next document to write
    private bool _hasWritten;

    /// <summary>Collects the ids at paths.</summary>
    /// <exception cref="InvalidQueryException">A text is not a path.</exception>
    public IncludedDocuments(IEnumerable<string> paths)
        : this([.. paths.Select(PathOf)], [])
    {
    }

    /// <summary>Collects the ids at paths, and includes the given ids.</summary>
    internal IncludedDocuments(IReadOnlyList<FieldPath> paths, IReadOnlyList<string> ids)
    {
        _hasPaths = paths.Count > 0;
        _paths = new PathTree([.. paths.Select(p => (p, 0))], expandsMaps: true);
        foreach (string id in ids)
            Add(id);
    }

    /// <summary>The ids in the order found, each once, whatever its case.</summary>
    public IReadOnlyList<string> Ids => _ids;

    /// <summary>Collects the ids in a document.</summary>
    /// <exception cref="InvalidQueryException">There are more than <see cref="MaxIncludes"/>.</exception>
    public void Collect(Document document)
    {
        if (!_hasPaths)
            return;
        var sink = new IdSink(this);
        _paths.Visit(document.Body, ref sink);
    }

    /// <summary>Removes the ids of documents that are in the answer already. Call it before writing.</summary>
    public void Except(IEnumerable<string> ids)
    {
        var there = new HashSet<string>(ids, StringComparer.OrdinalIgnoreCase);
        _ids.RemoveAll(there.Contains);
    }

    /// <summary>
    /// Writes the next document as a member <c>"id":document</c>, with a comma before it unless it is the first. Returns false if
    /// there are no more. Skips ids that have no document. Invalidates everything read from the snapshot earlier.
    /// </summary>
    internal bool WriteNext(DatabaseSnapshot snapshot, IBufferWriter<byte> output)
    {
        while (_next < _ids.Count)
        {
            if (!snapshot.TryGet(_ids[_next++], out Document document))
                continue;

            if (_hasWritten)
                output.Write(","u8);

            _hasWritten = true;
            JsonStrings.Write(output, document.Id);
            output.Write(":"u8);
            document.WriteTo(output);
            snapshot.ReleasePages();
            return true;
        }

        return false;
    }

    /// <summary>Calls the visitor with each document; ids without a document are skipped.</summary>
    internal void Visit(DatabaseSnapshot snapshot, IncludedVisitor visitor)
    {
        foreach (string id in _ids)
        {
            if (snapshot.TryGet(id, out Document document))
                visitor(document);
            snapshot.ReleasePages();
        }
    }

    /// <summary>Includes a document, once.</summary>
    internal void Add(string? id)
    {
        // A longer string cannot be an id: its UTF-8 form is at least as long.
        if (string.IsNullOrEmpty(id) || id.Length > DocumentId.MaxBytes || !_seen.Add(id))
            return;
        if (_ids.Count == MaxIncludes)
            throw new InvalidQueryException(
                $"The answer includes more than {MaxIncludes:N0} documents. Ask for fewer results at a time.");
        _ids.Add(id);
    }

    private static FieldPath PathOf(string path) =>
        FieldPath.TryParse(path)
        ?? throw new InvalidQueryException($"'{path}' is not a path to include. Write it as in Lines[].Product.");

    private readonly struct IdSink(IncludedDocuments collector) : IFieldSink
    {
        public void Value(int slot, ref Utf8JsonReader reader)
        {
            if (reader.TokenType is JsonTokenType.String or JsonTokenType.PropertyName)
                collector.Add(reader.GetString());
        }

        public void Object(int slot, ref Utf8JsonReader reader)
        {
            // An object is not a reference.
        }

        public void StartOfArray(int slot, ref Utf8JsonReader reader)
        {
        }

        public void EmptyArray(int slot)
        {
            // Nothing to include.
        }
    }
}
