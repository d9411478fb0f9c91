using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>
/// Methods of strings and other single values. Each public method is part of the vocabulary. Most return null or missing
/// when called on null or missing.
/// </summary>
internal static class TextMethods
{
    /// <summary>The maximum number of characters of a text that is looked for.</summary>
    private const int MostSought = 4_096;

    /// <summary>The maximum number of different characters that are trimmed.</summary>
    private const int MostTrimmed = 256;

    private const int MostSeparators = 256;

    public static Value ToString(Run run, Value self) => self.IsNothing ? self : run.Made(Conversions.Text(self));

    public static Value ToString(Run run, Value self, Value format) =>
        self.IsNothing ? self : run.Made(Conversions.Text(self, Conversions.Text(format)));

    /// <summary>Returns the content of the result of <c>LoadAttachment</c>.</summary>
    public static Value GetContentAsString(Run run, Value self) => self.IsNothing ? self
        : self.Kind == ValueKind.Object && self.Members is AttachmentMembers attachment ? run.Made(attachment.Text)
        : throw new ComputingException("'GetContentAsString' is of attachments: LoadAttachment(doc, \"notes.txt\").");

    public static Value ToLower(Run run, Value self) => Map(run, self, static text => text.ToLowerInvariant());

    public static Value ToLowerInvariant(Run run, Value self) => ToLower(run, self);

    public static Value ToUpper(Run run, Value self) => Map(run, self, static text => text.ToUpperInvariant());

    public static Value ToUpperInvariant(Run run, Value self) => ToUpper(run, self);

    public static Value Trim(Run run, Value self) => Map(run, self, static text => text.Trim());

    public static Value TrimStart(Run run, Value self) => Map(run, self, static text => text.TrimStart());

    public static Value TrimEnd(Run run, Value self) => Map(run, self, static text => text.TrimEnd());

    public static Value Trim(Run run, Value self, Value chars) =>
        Map(run, self, text => text.Trim(Sought(chars, MostTrimmed).ToCharArray()));

    public static Value TrimStart(Run run, Value self, Value chars) =>
        Map(run, self, text => text.TrimStart(Sought(chars, MostTrimmed).ToCharArray()));

    public static Value TrimEnd(Run run, Value self, Value chars) =>
        Map(run, self, text => text.TrimEnd(Sought(chars, MostTrimmed).ToCharArray()));

    public static Value Substring(Run run, Value self, Value start) =>
        Map(run, self, text => text[Place(text, Conversions.Int(start))..]);

    public static Value Substring(Run run, Value self, Value start, Value length) => Map(run, self, text =>
    {
        int from = Place(text, Conversions.Int(start)), count = Conversions.Int(length);
        return count >= 0 && count <= text.Length - from
            ? text.Substring(from, count)
            : throw new ComputingException($"'Substring' reaches beyond the {text.Length} characters of the text.");
    });

    public static Value Replace(Run run, Value self, Value from, Value to)
    {
        if (self.IsNothing)
            return self;
        string text = Conversions.Text(self), old = Sought(from), other = Conversions.Text(to);
        if (old.Length == 0)
            throw new ComputingException("'Replace' looks for an empty text.");
        run.Characters(text.Length + ((long)text.AsSpan().Count(old) * Math.Max(0, other.Length - old.Length)));
        return Value.Of(text.Replace(old, other, StringComparison.Ordinal));
    }

    public static Value Remove(Run run, Value self, Value start) =>
        Map(run, self, text => text[..Place(text, Conversions.Int(start))]);

    public static Value Insert(Run run, Value self, Value start, Value other)
    {
        run.Characters((long)Conversions.Text(self).Length + Conversions.Text(other).Length);
        return Map(run, self, text => text.Insert(Place(text, Conversions.Int(start)), Conversions.Text(other)));
    }

    public static Value PadLeft(Run run, Value self, Value width) => PadLeft(run, self, width, Value.Of(" "));

    public static Value PadLeft(Run run, Value self, Value width, Value with)
    {
        run.Characters(Math.Max(0, Conversions.Long(width)));
        return Map(run, self, text => text.PadLeft(Conversions.Int(width), One(with)));
    }

    public static Value PadRight(Run run, Value self, Value width) => PadRight(run, self, width, Value.Of(" "));

    public static Value PadRight(Run run, Value self, Value width, Value with)
    {
        run.Characters(Math.Max(0, Conversions.Long(width)));
        return Map(run, self, text => text.PadRight(Conversions.Int(width), One(with)));
    }

    public static Value Split(Run run, Value self, Value separator) => Split(run, self, separator, Value.Of(false));

    /// <summary>Splits a string; the third argument specifies whether empty parts are removed.</summary>
    public static Value Split(Run run, Value self, Value separator, Value options)
    {
        if (self.IsNothing)
            return self;
        string text = Conversions.Text(self);
        run.Characters(2L * text.Length);
        string[] separators =
            [.. separator.Kind == ValueKind.Array ? run.Each(separator).Select(static one => Sought(one)) : [Sought(separator)]];
        if (separators.Length > MostSeparators)
            throw new ComputingException($"'Split' takes at most {MostSeparators} separators.");
        string[] parts = text.Split(separators, options.IsTrue ? StringSplitOptions.RemoveEmptyEntries : StringSplitOptions.None);
        return Value.Of(parts.Select(static part => Value.Of(part)));
    }

    public static Value StartsWith(Run run, Value self, Value other) =>
        Ask(run, self, text => text.StartsWith(Conversions.Text(other), StringComparison.Ordinal));

    public static Value StartsWith(Run run, Value self, Value other, Value ignoreCase) =>
        Ask(run, self, text => text.StartsWith(Conversions.Text(other), Comparison(ignoreCase)));

    public static Value EndsWith(Run run, Value self, Value other) =>
        Ask(run, self, text => text.EndsWith(Conversions.Text(other), StringComparison.Ordinal));

    public static Value EndsWith(Run run, Value self, Value other, Value ignoreCase) =>
        Ask(run, self, text => text.EndsWith(Conversions.Text(other), Comparison(ignoreCase)));

    public static Value Contains(Run run, Value self, Value other) => self.Kind == ValueKind.Array
        ? Value.Of(run.Each(self).Contains(other))
        : Ask(run, self, text => text.Contains(Sought(other), StringComparison.Ordinal));

    public static Value Contains(Run run, Value self, Value other, Value ignoreCase) =>
        Ask(run, self, text => text.Contains(Sought(other), Comparison(ignoreCase)));

    public static Value ContainsKey(Run run, Value self, Value key)
    {
        run.Step();
        return Value.Of(self.Kind == ValueKind.Object && self.Members.Get(Conversions.Text(key)).Kind != ValueKind.Missing);
    }

    public static Value IndexOf(Run run, Value self, Value other) =>
        Number(run, self, text => text.IndexOf(Sought(other), StringComparison.Ordinal));

    public static Value LastIndexOf(Run run, Value self, Value other) =>
        Number(run, self, text => text.LastIndexOf(Sought(other), StringComparison.Ordinal));

    public static Value CompareTo(Run run, Value self, Value other)
    {
        run.Step();
        return Value.Of((long)Math.Sign(ValueOrder.Instance.Compare(self, other)));
    }

    public static Value Equals(Run run, Value self, Value other)
    {
        run.Step();
        return Value.Of(self.Equals(other));
    }

    public static Value Equals(Run run, Value self, Value other, Value ignoreCase) =>
        Ask(run, self, text => string.Equals(text, Conversions.Text(other), Comparison(ignoreCase)));

    public static Value GetValueOrDefault(Run run, Value self)
    {
        run.Step();
        return self.IsNothing ? Value.Of(0L) : self;
    }

    public static Value GetValueOrDefault(Run run, Value self, Value other)
    {
        run.Step();
        return self.Kind == ValueKind.Object ? self.Members.Get(Conversions.Text(other)) : self.IsNothing ? other : self;
    }

    public static Value ToCharArray(Run run, Value self)
    {
        string text = Conversions.Text(self);
        run.Characters(text.Length);
        return Value.Of(text.Select(static one => Value.Of(one.ToString())));
    }

    public static Value AddYears(Run run, Value self, Value count) =>
        Move(run, self, time => time.AddYears(Conversions.Int(count)));

    public static Value AddMonths(Run run, Value self, Value count) =>
        Move(run, self, time => time.AddMonths(Conversions.Int(count)));

    public static Value AddDays(Run run, Value self, Value count) =>
        Move(run, self, time => time.AddDays(Conversions.Double(count)));

    public static Value AddHours(Run run, Value self, Value count) =>
        Move(run, self, time => time.AddHours(Conversions.Double(count)));

    public static Value AddMinutes(Run run, Value self, Value count) =>
        Move(run, self, time => time.AddMinutes(Conversions.Double(count)));

    public static Value AddSeconds(Run run, Value self, Value count) =>
        Move(run, self, time => time.AddSeconds(Conversions.Double(count)));

    public static Value AddMilliseconds(Run run, Value self, Value count) =>
        Move(run, self, time => time.AddMilliseconds(Conversions.Double(count)));

    public static Value Add(Run run, Value self, Value other) =>
        Operators.Add(run, Conversions.Cast("DateTime", self), Conversions.Cast("TimeSpan", other));

    public static Value Subtract(Run run, Value self, Value other)
    {
        run.Step();
        return Operators.Subtract(Conversions.Cast("DateTime", self), other);
    }

    public static Value ToUniversalTime(Run run, Value self) =>
        Move(run, self, static time => DateTime.SpecifyKind(time, DateTimeKind.Utc));

    public static Value ToShortDateString(Run run, Value self) =>
        ToString(run, Conversions.Cast("DateTime", self), Value.Of("MM/dd/yyyy"));

    /// <summary>Sets the boost of an object returned by a map.</summary>
    public static Value Boost(Run run, Value self, Value weight)
    {
        run.Step();
        if (self.Kind != ValueKind.Object || !weight.IsNumber)
            throw new ComputingException(
                "'Boost' takes an object that the map makes and a number, its weight. Set the weight of a field in its options.");
        var weighted = new ValueObject();
        foreach ((string name, Value member) in self.Members.All())
            weighted.With(name, member);
        return Value.Of(weighted.With(Computations.MappedField.Boost, weight));
    }

    private static Value Map(Run run, Value self, Func<string, string> map)
    {
        if (self.IsNothing)
            return self;
        string text = Conversions.Text(self);
        run.Characters(text.Length);
        return Value.Of(map(text));
    }

    private static Value Ask(Run run, Value self, Func<string, bool> ask)
    {
        if (self.IsNothing)
            return Value.False;
        string text = Conversions.Text(self);
        run.Characters(text.Length);
        return Value.Of(ask(text));
    }

    private static Value Number(Run run, Value self, Func<string, int> ask)
    {
        if (self.IsNothing)
            return self;
        string text = Conversions.Text(self);
        run.Characters(text.Length);
        return Value.Of((long)ask(text));
    }

    private static Value Move(Run run, Value self, Func<DateTime, DateTime> move)
    {
        run.Step();
        try
        {
            return Conversions.Time(self) is { } time ? Value.Of(move(time)) : Value.Null;
        }
        catch (ArgumentOutOfRangeException)
        {
            throw new ComputingException("a time is outside the years 1 to 9999.");
        }
    }

    /// <summary>
    /// Returns a text to look for. Its length is limited, because looking for it may take as many steps as both lengths
    /// multiplied.
    /// </summary>
    private static string Sought(Value value, int most = MostSought)
    {
        string text = Conversions.Text(value);
        return text.Length <= most
            ? text
            : throw new ComputingException($"a text that is looked for has at most {most:N0} characters here.");
    }

    private static int Place(string text, int place) =>
        place >= 0 && place <= text.Length
            ? place
            : throw new ComputingException($"character {place} is outside a text of {text.Length}.");

    private static char One(Value value) =>
        Conversions.Text(value) is [char only] ? only : throw new ComputingException("one character is expected.");

    /// <summary>Converts a <c>StringComparison</c> to case-sensitive or case-insensitive.</summary>
    private static StringComparison Comparison(Value ignoreCase) =>
        ignoreCase.IsTrue ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal;
}
