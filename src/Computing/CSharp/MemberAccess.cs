using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>Reads members and elements of values. Members of null or missing are missing.</summary>
internal static class MemberAccess
{
    public static Value Get(Value value, string name) => value.Kind switch
    {
        ValueKind.Object => value.Members.Get(name) is { Kind: not ValueKind.Missing } member ? member : OfObject(value, name),
        ValueKind.Missing or ValueKind.Null => name == "HasValue" ? Value.False : Value.Missing,
        _ when name == "HasValue" => Value.True,
        _ when name == "Value" => value,
        ValueKind.Array when name is "Length" or "Count" => Value.Of((long)value.Items.Count()),
        ValueKind.Array when name == "Key" && value.Items is ValueGroup group => group.Key,
        ValueKind.Time => OfTime(value.Time, name),
        ValueKind.Span => OfSpan(value.Span, name),
        ValueKind.String when name == "Length" => Value.Of((long)value.Text.Length),
        ValueKind.String when TimeTexts.TryParse(value.Text, out DateTime time) => OfTime(time, name),
        ValueKind.String
            when TimeSpan.TryParse(value.Text, System.Globalization.CultureInfo.InvariantCulture, out TimeSpan span) => OfSpan(
                span, name),
        _ => Value.Missing,
    };

    public static Value At(Value value, Value key)
    {
        if (value.IsNothing || key.IsNothing)
            return Value.Missing;
        if (value.Kind == ValueKind.Object)
            return value.Members.Get(Conversions.Text(key));
        long place = Conversions.Long(key);
        if (value.Kind == ValueKind.String)
            return place >= 0 && place < value.Text.Length ? Value.Of(value.Text[(int)place].ToString()) : Value.Missing;
        return value.Kind == ValueKind.Array && place is >= 0 and < int.MaxValue
            ? value.Items.ElementAtOrDefault((int)place)
            : Value.Missing;
    }

    /// <summary>Returns a property of an object used as a dictionary.</summary>
    private static Value OfObject(Value value, string name) => name switch
    {
        "Count" => Value.Of((long)value.Members.All().Count()),
        "Keys" => Value.Of(value.Members.All().Select(static member => Value.Of(member.Key))),
        "Values" => Value.Of(value.Members.All().Select(static member => member.Value)),
        "HasValue" => Value.True,
        _ => Value.Missing,
    };

    private static Value OfTime(DateTime time, string name) => name switch
    {
        "Year" => Value.Of((long)time.Year),
        "Month" => Value.Of((long)time.Month),
        "Day" => Value.Of((long)time.Day),
        "Hour" => Value.Of((long)time.Hour),
        "Minute" => Value.Of((long)time.Minute),
        "Second" => Value.Of((long)time.Second),
        "Millisecond" => Value.Of((long)time.Millisecond),
        "DayOfYear" => Value.Of((long)time.DayOfYear),
        "DayOfWeek" => Value.Of(time.DayOfWeek.ToString()),
        "Ticks" => Value.Of(time.Ticks),
        "Date" => Value.Of(time.Date),
        "TimeOfDay" => Value.Of(time.TimeOfDay),
        _ => Value.Missing,
    };

    private static Value OfSpan(TimeSpan span, string name) => name switch
    {
        "Days" => Value.Of((long)span.Days),
        "Hours" => Value.Of((long)span.Hours),
        "Minutes" => Value.Of((long)span.Minutes),
        "Seconds" => Value.Of((long)span.Seconds),
        "Milliseconds" => Value.Of((long)span.Milliseconds),
        "Ticks" => Value.Of(span.Ticks),
        "TotalDays" => Value.Of(span.TotalDays),
        "TotalHours" => Value.Of(span.TotalHours),
        "TotalMinutes" => Value.Of(span.TotalMinutes),
        "TotalSeconds" => Value.Of(span.TotalSeconds),
        "TotalMilliseconds" => Value.Of(span.TotalMilliseconds),
        _ => Value.Missing,
    };
}
