using System.Diagnostics;
using System.Globalization;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The numbers of one sign with the same number of digits before the point, all with plain text. Their texts sort by
/// magnitude, so a cursor over the numbers also enumerates the texts, in reverse order for negative numbers.
/// </summary>
internal sealed class NumberTextRun : IDisposable
{
    /// <summary>Most digits of a long.</summary>
    public const int MaxDigits = 19;

    private readonly TermCursor _cursor;
    private readonly bool _isNegative;
    private readonly int _digits;
    private readonly byte[] _from;
    private readonly byte[] _to;
    private readonly byte[] _text = new byte[NumberKey.MaxTextBytes];
    private int _length;

    /// <param name="cursor">A cursor over the numbers, which the run owns from now on.</param>
    /// <param name="isNegative">Whether the numbers are below 0.</param>
    /// <param name="digits">Digits before the point.</param>
    public NumberTextRun(TermCursor cursor, bool isNegative, int digits)
    {
        _cursor = cursor;
        _isNegative = isNegative;
        _digits = digits;
        _from = isNegative ? End(true, digits) : digits == 1 ? End(true, 0) : End(false, digits - 1);
        _to = isNegative ? End(true, digits - 1) : End(false, digits);
        Debug.Assert(digits is >= 1 and <= MaxDigits, "a long has 1 to 19 digits");
        Debug.Assert(_from.AsSpan().SequenceCompareTo(_to) < 0, "a run begins before it ends");
    }

    /// <summary>The part of a run between two keys that both belong to it.</summary>
    /// <param name="cursor">A cursor over the numbers, which the run owns from now on.</param>
    /// <param name="isNegative">Whether the numbers are below 0.</param>
    /// <param name="digits">Digits before the point.</param>
    /// <param name="from">The first key.</param>
    /// <param name="to">The exclusive end of the keys.</param>
    public NumberTextRun(TermCursor cursor, bool isNegative, int digits, byte[] from, byte[] to)
        : this(cursor, isNegative, digits)
    {
        Debug.Assert(_from.AsSpan().SequenceCompareTo(from) <= 0, "the part does not begin before the run");
        Debug.Assert(to.AsSpan().SequenceCompareTo(_to) <= 0, "the part does not end behind the run");
        (_from, _to) = (from, to);
    }

    /// <summary>Whether the run is positioned on a number.</summary>
    public bool IsThere { get; private set; }

    /// <summary>The text of the current number; valid until the run moves.</summary>
    public ReadOnlySpan<byte> Text => _text.AsSpan(0, _length);

    /// <summary>The value of the current number.</summary>
    public ReadOnlySpan<byte> Value => _cursor.Value;

    /// <summary>
    /// The exclusive end of the keys of a run: the key of the first number after it. For numbers with as many digits as a
    /// long, it is a key beyond every number with plain text.
    /// </summary>
    public static byte[] End(bool isNegative, int digits)
    {
        byte[] key = new byte[NumberKey.Bytes];
        if (digits >= MaxDigits)
        {
            // Numbers beyond these have no plain text.
            key.AsSpan().Fill(isNegative ? byte.MinValue : byte.MaxValue);
            return key;
        }

        long bound = digits == 0 ? 0 : PowerOfTen(digits);
        NumberKey.Write(key, isNegative ? -bound : bound);
        if (isNegative && bound > 0)
            key[^1]++; // −10 already has two digits; the low bytes of a power of ten are 32,768, so this does not carry
        return key;
    }

    /// <summary>Moves to the first text in order, or to the last.</summary>
    public void MoveToEnd(bool last)
    {
        bool isValid = last == _isNegative
            ? _cursor.Seek(_from)
            : _cursor.Seek(_to) ? _cursor.MovePrevious() : _cursor.MoveLast();
        Enter(isValid);
    }

    /// <summary>Moves to the next text, or to the previous one.</summary>
    public void Move(bool back) => Enter(back == _isNegative ? _cursor.MoveNext() : _cursor.MovePrevious());

    /// <summary>
    /// Moves to the first text that is not before <paramref name="target"/>, or when moving backwards to the last that is
    /// not after it.
    /// </summary>
    public void Seek(ReadOnlySpan<byte> target, bool back)
    {
        SeekForwards(target);
        if (!back || (IsThere && Text.SequenceEqual(target)))
            return;
        if (IsThere)
            Move(back: true);
        else
            MoveToEnd(last: true);
    }

    public void Dispose() => _cursor.Dispose();

    private void SeekForwards(ReadOnlySpan<byte> target)
    {
        if (_isNegative && !target.IsEmpty && target[0] > '-')
        {
            IsThere = false;
            return;
        }

        if (_isNegative && (target.IsEmpty || target[0] < '-'))
        {
            MoveToEnd(last: false);
            return;
        }

        ReadOnlySpan<byte> size = _isNegative ? target[1..] : target;
        Span<byte> key = stackalloc byte[NumberKey.Bytes];
        if (!TryFindLeast(size, key))
        {
            IsThere = false;
            return;
        }

        bool isValid = _cursor.Seek(key);
        if (_isNegative)
            isValid = !isValid ? _cursor.MoveLast() : _cursor.Key.SequenceEqual(key) || _cursor.MovePrevious();
        Enter(isValid);
        if (!IsThere && IsBeforeFirst(key))
            MoveToEnd(last: false);
        while (IsThere && Text.SequenceCompareTo(target) < 0)
            Move(back: false);
    }

    /// <summary>Whether a key precedes the whole run, in the order of texts.</summary>
    private bool IsBeforeFirst(ReadOnlySpan<byte> key) =>
        _isNegative ? key.SequenceCompareTo(_to) >= 0 : key.SequenceCompareTo(_from) < 0;

    /// <summary>
    /// Finds a magnitude that is close to, and at most, the least one whose text is not before <paramref name="size"/>;
    /// false if every text of the run is before it. A character that is not a digit sorts before or after all digits.
    /// </summary>
    private bool TryFindLeast(ReadOnlySpan<byte> size, Span<byte> key)
    {
        int known = 0;
        while (known < _digits && known < size.Length && size[known] is >= (byte)'0' and <= (byte)'9')
            known++;
        UInt128 whole = 0;
        foreach (byte digit in size[..known])
            whole = (whole * 10) + (UInt128)(digit - '0');
        bool isBehind = known < size.Length && (known < _digits ? size[known] > '9' : size[known] > '.');
        whole += isBehind ? 1u : 0u;
        for (int i = known; i < _digits; i++)
            whole *= 10;
        if (whole > (UInt128)long.MaxValue + (_isNegative ? 1u : 0u))
            return false;

        long value = unchecked((long)(ulong)whole);
        NumberKey.Write(key, _isNegative ? unchecked(-value) : value);
        if (isBehind || known < _digits || known == size.Length || size[known] != '.')
            return true;

        // A fraction: every text that parses to less is before it. Two doubles lower is further than any rounding error.
        int end = known + 1;
        while (end < size.Length && end - known < NumberKey.MaxTextBytes && size[end] is >= (byte)'0' and <= (byte)'9')
            end++;
        if (!double.TryParse(size[..end], NumberStyles.Float, CultureInfo.InvariantCulture, out double near))
            return true;
        near = double.BitDecrement(double.BitDecrement(near));
        if (near > value)
            NumberKey.Write(key, _isNegative ? -near : near);
        return true;
    }

    /// <summary>Reads the number at the cursor if it belongs to the run.</summary>
    private void Enter(bool isValid)
    {
        IsThere = isValid && _cursor.Key.SequenceCompareTo(_from) >= 0 && _cursor.Key.SequenceCompareTo(_to) < 0;
        if (IsThere)
            _length = NumberKey.Format(_cursor.Key, _text);
    }

    private static long PowerOfTen(int exponent)
    {
        Debug.Assert(exponent is >= 0 and < MaxDigits, "a power of ten fits a long");
        long power = 1;
        for (int i = 0; i < exponent; i++)
            power *= 10;
        return power;
    }
}
