using System.Globalization;
using System.Numerics;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Model;

/// <summary>
/// Analysis and comparison, written anew in the plainest way. Words of the test data are cut at anything but letters and digits.
/// </summary>
public static class NaiveText
{
    public static string Fold(string text)
    {
        var folded = new StringBuilder();
        foreach (Rune rune in text.EnumerateRunes())
            folded.Append(Rune.ToLowerInvariant(Rune.ToUpperInvariant(rune)).ToString());
        return folded.ToString();
    }

    public static List<string> Words(string text)
    {
        var words = new List<string>();
        var word = new StringBuilder();
        foreach (char c in text + " ")
        {
            if (char.IsLetterOrDigit(c))
            {
                word.Append(c);
                continue;
            }

            if (word.Length > 0)
                words.Add(Fold(word.ToString()));
            word.Clear();
        }

        return words;
    }

    /// <summary>
    /// Every word of all values of a full-text field with its position: the next value begins a hundred behind the last word.
    /// </summary>
    public static IEnumerable<(string Word, int Position)> Positions(IEnumerable<FieldValue> values)
    {
        int first = 0;
        foreach (FieldValue value in values.Where(value => !IsNull(value)))
        {
            List<string> words = Words(TextOf(value));
            for (int i = 0; i < words.Count; i++)
                yield return (words[i], first + i);
            first += words.Count > 0 ? words.Count + 100 : 0;
        }
    }

    public static string TextOf(FieldValue value) => value.Kind switch
    {
        FieldValueKind.Text => value.Text!, // of its kind
        FieldValueKind.Boolean => value.Boolean ? "true" : "false",
        FieldValueKind.Long => value.Long.ToString(CultureInfo.InvariantCulture),
        _ when value.Double == Math.Truncate(value.Double) && Math.Abs(value.Double) < 9.2e18 =>
            ((long)value.Double).ToString(CultureInfo.InvariantCulture),
        _ => value.Double.ToString("R", CultureInfo.InvariantCulture).ToLowerInvariant(),
    };

    public static List<string> Terms(FieldAnalysis analysis, FieldValue value)
    {
        if (IsNull(value))
            return [];

        string text = TextOf(value);
        return analysis switch
        {
            FieldAnalysis.FullText => Words(text),
            FieldAnalysis.Keyword => [text],
            _ => [Fold(text)],
        };
    }

    public static bool IsNull(FieldValue value) =>
        value.Kind == FieldValueKind.Null || (value.Kind == FieldValueKind.Double && double.IsNaN(value.Double));

    public static bool IsNumber(FieldValue value) => value.Kind is FieldValueKind.Long or FieldValueKind.Double && !IsNull(value);

    public static int CompareText(string left, string right) =>
        Encoding.UTF8.GetBytes(left).AsSpan().SequenceCompareTo(Encoding.UTF8.GetBytes(right));

    public static int CompareNumbers(FieldValue left, FieldValue right) => Exact(left).CompareTo(Exact(right));

    public static int CompareAlphaNumeric(string left, string right)
    {
        List<string> a = Runs(left);
        List<string> b = Runs(right);
        for (int i = 0; i < Math.Min(a.Count, b.Count); i++)
        {
            bool digits = char.IsAsciiDigit(a[i][0]) && char.IsAsciiDigit(b[i][0]);
            int order = digits
                ? BigInteger.Parse(a[i], CultureInfo.InvariantCulture)
                    .CompareTo(BigInteger.Parse(b[i], CultureInfo.InvariantCulture))
                : char.IsAsciiDigit(a[i][0]) ? '0'.CompareTo(b[i][0])
                : char.IsAsciiDigit(b[i][0]) ? a[i][0].CompareTo('0')
                : CompareText(a[i], b[i]);
            if (order != 0)
                return order;
        }

        return a.Count.CompareTo(b.Count);
    }

    /// <summary>Runs of digits, and single other characters: a digit run is greater than a smaller character.</summary>
    private static List<string> Runs(string text)
    {
        var runs = new List<string>();
        foreach (Rune rune in text.EnumerateRunes())
        {
            bool digit = rune.IsAscii && char.IsAsciiDigit((char)rune.Value);
            if (digit && runs.Count > 0 && char.IsAsciiDigit(runs[^1][0]))
                runs[^1] += rune.ToString();
            else
                runs.Add(rune.ToString());
        }

        return runs;
    }

    /// <summary>The value times 2^1074: whole for every double.</summary>
    private static BigInteger Exact(FieldValue value)
    {
        if (value.Kind == FieldValueKind.Long)
            return new BigInteger(value.Long) << 1074;
        if (double.IsInfinity(value.Double))
            return (value.Double > 0 ? BigInteger.One : BigInteger.MinusOne) << 5000;

        long bits = BitConverter.DoubleToInt64Bits(value.Double);
        int exponent = (int)(bits >> 52 & 0x7FF);
        long mantissa = bits & 0xFFFFFFFFFFFFF;
        if (exponent == 0)
            exponent = 1;
        else
            mantissa |= 1L << 52;
        return (value.Double < 0 ? -1 : 1) * (new BigInteger(mantissa) << (exponent - 1));
    }
}
