namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// A text after a character filter, which maps places in it back to the text that was given, because highlights refer to
/// that text.
/// </summary>
internal sealed class FilteredText(FilteredText? before, int givenBytes)
{
    private readonly TokenBuffer _bytes = new();
    private readonly List<(int Out, int OutLength, int In, int InLength)> _changes = [];

    /// <summary>Most bytes of a filtered text, or of a filtered term of a text.</summary>
    public static long MostBytes(int textBytes) => (4L * textBytes) + 4096;

    /// <summary>The filtered text.</summary>
    public ReadOnlySpan<byte> Text => _bytes.Written;

    /// <summary>Appends a piece unchanged.</summary>
    public void Copy(ReadOnlySpan<byte> piece) => Append(piece);

    /// <summary>Appends the replacement of a piece.</summary>
    /// <param name="at">Where the piece begins in the text before the filter.</param>
    /// <param name="lengthBytes">Length of the piece.</param>
    /// <param name="with">The replacement.</param>
    public void Replace(int at, int lengthBytes, ReadOnlySpan<byte> with)
    {
        _changes.Add((_bytes.Length, with.Length, at, lengthBytes));
        Append(with);
    }

    /// <summary>Maps the start of a word to its start in the text that was given.</summary>
    public int Start(int place)
    {
        int own = Before(place, isEnd: false);
        return Math.Min(givenBytes, before?.Start(own) ?? own);
    }

    /// <summary>Maps the end of a word to its end in the text that was given.</summary>
    public int End(int place)
    {
        int own = Before(place, isEnd: true);
        return Math.Min(givenBytes, before?.End(own) ?? own);
    }

    private int Before(int place, bool isEnd)
    {
        // Find the last change that begins before the place. A word that ends where a change begins contains nothing of it.
        int low = 0;
        int high = _changes.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (isEnd ? _changes[middle].Out < place : _changes[middle].Out <= place)
                low = middle + 1;
            else
                high = middle;
        }

        if (low == 0)
            return place;
        (int outStart, int outLength, int inStart, int inLength) = _changes[low - 1];
        if (place < outStart + outLength)
            return isEnd ? inStart + inLength : inStart;
        return inStart + inLength + (place - outStart - outLength);
    }

    private void Append(ReadOnlySpan<byte> piece)
    {
        if (_bytes.Length + (long)piece.Length > MostBytes(givenBytes))
            throw new IndexQueryException(
                $"The character filters of the analyzer make more than {MostBytes(givenBytes):N0} bytes of a text of "
                    + $"{givenBytes:N0}: replace with less text.");
        piece.CopyTo(_bytes.Room(piece.Length));
        _bytes.Advance(piece.Length);
    }
}
