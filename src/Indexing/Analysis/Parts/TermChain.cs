using Treepie.Indexing.Analysis.Stemming;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// Receives the words that a tokenizer finds in a text and passes each, as it is in the text, through the filters to the
/// sink for the terms. Used by one thread.
/// </summary>
internal sealed class TermChain : TokenSink
{
    private readonly TermFilter[] _filters;
    private readonly TokenBuffer[] _rooms;
    private byte[] _text = [];
    private int _textBytes;
    private FilteredText? _filtered;
    private TokenSink? _target;
    private int _position;
    private int _lastPosition;
    private int _start;
    private int _end;

    public TermChain(TermFilter[] filters)
    {
        _filters = filters;
        _rooms = [.. filters.Select(static _ => new TokenBuffer())];
    }

    /// <summary>Whether it was created with these filters.</summary>
    public bool Has(TermFilter[] filters) => ReferenceEquals(_filters, filters);

    /// <summary>Most bytes of a term that a filter may make from this text.</summary>
    public long MaxTermBytes => FilteredText.MostBytes(_textBytes);

    /// <summary>The buffer for stemmers.</summary>
    public StemWord Stemmed => Word;

    /// <summary>Passes the words of a text to a sink.</summary>
    /// <param name="tokenizer">Finds the words; only their places are used.</param>
    /// <param name="text">The text.</param>
    /// <param name="filtered">Maps places in the text to the text that was given; null if they are the same.</param>
    /// <param name="target">Receives the terms.</param>
    public void Run(Analyzer tokenizer, ReadOnlySpan<byte> text, FilteredText? filtered, TokenSink target)
    {
        const int KeptBytes = 4096;
        if (_text.Length < text.Length)
            _text = new byte[Math.Max(text.Length, 256)];
        text.CopyTo(_text);
        _textBytes = text.Length;
        _filtered = filtered;
        _target = target;
        _lastPosition = -1;
        Begin(0);
        tokenizer.Analyze(_text.AsSpan(0, text.Length), this);
        End(KeptBytes);
        _target = null;
        _filtered = null;
        if (_text.Length > KeptBytes)
            _text = [];
        foreach (TokenBuffer room in _rooms)
            room.Trim(KeptBytes);
    }

    /// <summary>Returns the buffer of a filter, cleared.</summary>
    public TokenBuffer Room(int place)
    {
        _rooms[place].Clear();
        return _rooms[place];
    }

    /// <summary>Passes a term to the filter at a place, or after the last filter to the sink.</summary>
    public void Pass(ReadOnlySpan<byte> term, int place)
    {
        if (term.IsEmpty)
            return;
        if (place < _filters.Length)
        {
            _filters[place].Apply(term, this, place);
            return;
        }

        _target!.Add(term, _start, _end, _position - _lastPosition); // set while a text is analyzed
        _lastPosition = _position;
    }

    private protected override void Accept(ReadOnlySpan<byte> form, int position, int start, int end)
    {
        _position = position;
        _start = _filtered?.Start(start) ?? start;
        _end = Math.Max(_start, _filtered?.End(end) ?? end);
        Pass(_text.AsSpan(start, end - start), 0);
    }
}
