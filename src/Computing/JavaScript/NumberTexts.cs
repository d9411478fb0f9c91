using System.Buffers;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json;
using Jint.Native;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// The texts of numbers that a script would write differently: 1.0, 1e2, integers beyond 2^53. A number keeps its text wherever
/// the script moves it, as the same object; a number that is computed is another object. Not thread-safe.
/// </summary>
internal sealed class NumberTexts
{
    /// <summary>The maximum length of a double in its shortest form.</summary>
    private const int MaxChars = 32;

    /// <summary>The maximum length of an integer that has only one text, with its sign.</summary>
    private const int MaxPlainChars = 15;

    /// <summary>The maximum number of texts for which memory is kept.</summary>
    private const int MaxKept = 256;

    private static readonly SearchValues<byte> _marks = SearchValues.Create(".eE"u8);

    // by reference: equal numbers may have different texts
    private Dictionary<JsValue, string> _texts = new(ReferenceEqualityComparer.Instance);

    /// <summary>Converts a number, and notes its text if it needs it.</summary>
    public JsNumber Read(JsonElement json)
    {
        double value = json.GetDouble();
        var number = new JsNumber(value);
        ReadOnlySpan<byte> text = JsonMarshal.GetRawUtf8Value(json);
        if ((text.Length > MaxPlainChars || text.ContainsAny(_marks)) && !IsShortest(value, text))
            _texts[number] = Encoding.UTF8.GetString(text);
        return number;
    }

    /// <summary>Returns the text of a number that was read with one, or null.</summary>
    public string? Of(JsValue number) => _texts.GetValueOrDefault(number);

    /// <summary>Forgets all numbers.</summary>
    public void Clear()
    {
        if (_texts.Capacity > MaxKept)
            _texts = new Dictionary<JsValue, string>(ReferenceEqualityComparer.Instance);
        else
            _texts.Clear();
    }

    private static bool IsShortest(double number, ReadOnlySpan<byte> text)
    {
        Span<byte> shortest = stackalloc byte[MaxChars];
        return !text.Contains((byte)'E') // integers are written without an exponent
            && number.TryFormat(shortest, out int length, "R", CultureInfo.InvariantCulture)
            && text.SequenceEqual(shortest[..length]);
    }
}
