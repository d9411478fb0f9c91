using System.Buffers;

namespace Treepie.CommandLine.Import;

/// <summary>
/// Documents on their way: the body of one <c>bulk_docs</c> request, made while the request before it is in flight, and what is
/// needed to send a part of it again.
/// </summary>
internal sealed class ImportBatch
{
    private readonly ArrayBufferWriter<byte> _body = new(256 * 1024);
    private readonly List<Item> _items = [];
    private readonly HashSet<string> _ids = new(StringComparer.OrdinalIgnoreCase);
    private bool _complete;

    /// <summary>An empty batch.</summary>
    public ImportBatch() => _body.Write("""{"Commands":["""u8);

    /// <summary>Documents in it.</summary>
    public int Count => _items.Count;

    /// <summary>Bytes of it.</summary>
    public int Bytes => _body.WrittenCount;

    /// <summary>Ids, in order.</summary>
    public IReadOnlyList<string> Ids => [.. _items.Select(item => item.Id)];

    /// <summary>Line of the first document.</summary>
    public long FirstLine => _items[0].Line;

    /// <summary>Lines among those of this batch that are no documents, and at most one if the import stops at problems.</summary>
    public List<LineProblem> Problems { get; } = [];

    /// <summary>How far the file was read when it was made, in bytes as they lie on disk.</summary>
    public long FilePosition { get; set; }

    /// <summary>Whether a document with this id is in it; a batch that must not replace anything cannot take two.</summary>
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

    /// <summary>The request body. The batch is complete after that.</summary>
    public ReadOnlyMemory<byte> ToBody()
    {
        if (!_complete)
            _body.Write("]}"u8);

        _complete = true;
        return _body.WrittenMemory;
    }

    /// <summary>A batch of those of its documents for which <paramref name="take"/> holds.</summary>
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
