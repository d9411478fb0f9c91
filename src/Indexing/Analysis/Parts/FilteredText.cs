namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// A text after a filter of characters, and where in the text before it every place was: highlights are of the text that was
/// given.
/// </summary>
internal sealed class FilteredText(FilteredText? before, int givenBytes)
{
    private readonly TokenBuffer _bytes = new();
    private readonly List<(int Out, int OutLength, int In, int InLength)> _changes = [];

    /// <summary>Most bytes that a text, or a term of it, may become.</summary>
    public static long MostBytes(int textBytes) => (4L * textBytes) + 4096;

    /// <summary>The text.</summary>
    public ReadOnlySpan<byte> Text => _bytes.Written;

    /// <summary>Takes a piece as it is.</summary>
    public void Copy(ReadOnlySpan<byte> piece) => Append(piece);

    /// <summary>Puts something in the place of a piece.</summary>
    /// <param name="at">Where the piece begins.</param>
    /// <param name="lengthBytes">Its length.</param>
    /// <param name="with">What stands there now.</param>
    public void Replace(int at, int lengthBytes, ReadOnlySpan<byte> with)
    {
        _changes.Add((_bytes.Length, with.Length, at, lengthBytes));
        Append(with);
    }

    /// <summary>Where a word that begins here begins in the text that was given.</summary>
    public int Start(int place)
    {
        int own = Before(place, isEnd: false);
        return Math.Min(givenBytes, before?.Start(own) ?? own);
    }

    /// <summary>Where a word that ends here ends in the text that was given.</summary>
    public int End(int place)
    {
        int own = Before(place, isEnd: true);
        return Math.Min(givenBytes, before?.End(own) ?? own);
    }

    private int Before(int place, bool isEnd)
    {
        // The last change that begins before the place; a word that ends where a change begins has nothing of it.
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
                    + $"{givenBytes:N0}: put less in the place of what they replace.");
        piece.CopyTo(_bytes.Room(piece.Length));
        _bytes.Advance(piece.Length);
    }
}
