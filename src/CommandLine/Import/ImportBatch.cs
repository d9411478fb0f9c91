using System.Buffers;

namespace Treepie.CommandLine.Import;

/// <summary>
/// The body of one <c>bulk_docs</c> request, built while the previous request is in flight, with the positions needed to resend
/// a part of it.
/// </summary>
internal sealed class ImportBatch
{
    private readonly ArrayBufferWriter<byte> _body = new(256 * 1024);
    private readonly List<Item> _items = [];
    private readonly HashSet<string> _ids = new(StringComparer.OrdinalIgnoreCase);
    private bool _complete;

    /// <summary>Creates an empty batch.</summary>
    public ImportBatch() => _body.Write("""{"Commands":["""u8);

    /// <summary>Number of documents.</summary>
    public int Count => _items.Count;

    /// <summary>Size of the body so far, in bytes.</summary>
    public int Bytes => _body.WrittenCount;

    /// <summary>Ids of the documents, in order.</summary>
    public IReadOnlyList<string> Ids => [.. _items.Select(item => item.Id)];

    /// <summary>Line number of the first document.</summary>
    public long FirstLine => _items[0].Line;

    /// <summary>Lines within this batch that hold no document. At most one if the import stops at problems.</summary>
    public List<LineProblem> Problems { get; } = [];

    /// <summary>Position in the file, in bytes on disk, up to which it was read for this batch.</summary>
    public long FilePosition { get; set; }

    /// <summary>
    /// Whether a document with this id is in the batch. If documents must not be replaced, an id may occur only once per batch.
    /// </summary>
    public bool Holds(string id) => _ids.Contains(id);

    /// <summary>Adds a command.</summary>
    public void Add(string id, long line, ReadOnlySpan<byte> command)
    {
        if (_items.Count > 0)
            _body.Write(","u8);

        _items.Add(new Item(id, line, _body.WrittenCount, command.Length));
        _ids.Add(id);
        _body.Write(command);
    }

    /// <summary>Completes the batch and returns the request body.</summary>
    public ReadOnlyMemory<byte> ToBody()
    {
        if (!_complete)
            _body.Write("]}"u8);

        _complete = true;
        return _body.WrittenMemory;
    }

    /// <summary>Creates a batch of the documents whose index satisfies <paramref name="take"/>.</summary>
    public ImportBatch Part(Func<int, bool> take)
    {
        var part = new ImportBatch();
        for (int i = 0; i < _items.Count; i++)
            if (take(i))
                part.Add(_items[i].Id, _items[i].Line, _body.WrittenSpan.Slice(_items[i].Start, _items[i].Length));

        return part;
    }

    private readonly record struct Item(string Id, long Line, int Start, int Length);
}
