using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Interop;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// Guards around built-in functions that create long values in one call: they check the length before the value is created.
/// </summary>
internal sealed class LengthGuards
{
    private readonly Engine _engine;
    private readonly int _maxLength;

    private LengthGuards(Engine engine, int maxLength)
    {
        (_engine, _maxLength) = (engine, maxLength);
        Guard("String.prototype.repeat", static (self, arguments) => Length(self) * Number(arguments.At(0)));
        Guard("String.prototype.padStart", static (_, arguments) => Number(arguments.At(0)));
        Guard("String.prototype.padEnd", static (_, arguments) => Number(arguments.At(0)));
        Guard("String.prototype.concat", static (self, arguments) => Length(self) + arguments.Sum(Length));
        Guard("String.prototype.replace", static (self, arguments) => ReplacedLength(self, arguments, isAll: false));
        Guard("String.prototype.replaceAll", static (self, arguments) => ReplacedLength(self, arguments, isAll: true));
        Guard("Array.prototype.toLocaleString", (self, _) => JoinLength(self, JsValue.Undefined));
        Guard(
            "Array.from",
            static (_, arguments) => arguments.At(0) is ObjectInstance source and not JsArray ? Number(source.Get("length")) : 0);
        Guard(
            "JSON.stringify",
            (_, arguments) => TextLength(arguments.At(0), maxLength, 0) * (arguments.At(2).IsUndefined() ? 1 : 2));
        Guard("Array.prototype.join", (self, arguments) => JoinLength(self, arguments.At(0)));
        Guard("Array.prototype.fill", static (self, _) => ItemsOf(self));
        Guard("Array.prototype.concat", static (self, arguments) => ItemsOf(self) + arguments.Sum(ItemsOf));
    }

    /// <summary>Installs the guards in an engine.</summary>
    public static void Put(Engine engine, int maxLength) => _ = new LengthGuards(engine, maxLength);

    /// <summary>Wraps a built-in function with a check of the length of its result.</summary>
    private void Guard(string path, Func<JsValue, JsValue[], double> length)
    {
        string[] parts = path.Split('.');
        var owner = (ObjectInstance)_engine.GetValue(parts[0]);
        if (parts.Length == 3)
            owner = (ObjectInstance)owner.Get(parts[1]);
        string name = parts[^1];
        JsValue original = owner.Get(name);
        owner.Set(name, new ClrFunction(_engine, name, (self, arguments) =>
        {
            double wanted = length(self, arguments);
            if (wanted > _maxLength)
                throw new ScriptException(
                    $"'{name}' would make something of {wanted:N0} parts; {_maxLength:N0} are the most.");
            return _engine.Call(original, self, arguments);
        }, 1));
    }

    private static double Number(JsValue value) => value is JsNumber ? value.AsNumber() : 0;

    private static double Length(JsValue value) => value is JsString text ? text.Length : 0;

    private static double ItemsOf(JsValue value) => value is JsArray array ? array.Length : 1;

    /// <summary>
    /// Estimates the length after a replacement: the matches of a string are counted; for a regular expression, matches at
    /// a sixteenth of all positions are assumed.
    /// </summary>
    private static double ReplacedLength(JsValue self, JsValue[] arguments, bool isAll)
    {
        if (self is not JsString text || arguments.At(1) is not JsString replacement)
            return 0;
        double length = text.Length, each = replacement.Length;
        if (replacement.ToString().Contains('$', StringComparison.Ordinal))
            each *= length + 1; // $' may stand for everything after the match
        if (arguments.At(0) is not JsString part)
            return length + (length * each / 16);
        double places = !isAll ? 1 : part.Length == 0 ? length + 1 : text.ToString().AsSpan().Count(part.ToString());
        return length + (places * each);
    }

    /// <summary>Returns a lower bound of the length of a value as JSON; getters are not evaluated.</summary>
    private static double TextLength(JsValue value, double most, int depth)
    {
        if (value is JsString)
            return Length(value);
        if (value is not ObjectInstance made || depth > ScriptJson.MaxDepth)
            return 1;
        double length = 1;
        if (value is JsArray array)
        {
            for (uint i = 0; i < array.Length && length <= most; i++)
                length += TextLength(array[i], most - length, depth + 1);
            return length;
        }

        foreach (JsValue key in made.GetOwnPropertyKeys(Types.String))
        {
            if (length > most)
                break;
            length += key.ToString().Length
                + (made.GetOwnProperty(key) is { Get: null, Value: { } member }
                    ? TextLength(member, most - length, depth + 1)
                    : 1);
        }

        return length;
    }

    private double JoinLength(JsValue self, JsValue separator)
    {
        if (self is not JsArray array)
            return 0;
        double length = array.Length * (separator is JsString between ? between.Length : 1d);
        for (uint i = 0; i < array.Length && length <= _maxLength; i++)
            length += Length(array[i]);
        return length;
    }
}
