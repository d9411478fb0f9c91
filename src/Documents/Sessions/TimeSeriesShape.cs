using System.Reflection;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Treepie.Kinds;

namespace Treepie.Sessions;

/// <summary>The mapping of a class's properties to the values of an entry. Immutable.</summary>
internal sealed class TimeSeriesShape
{
    private readonly JsonPropertyInfo[] _members;

    /// <exception cref="TreepieException">The class does not define a mapping; the message says what is missing.</exception>
    public TimeSeriesShape(Type type, JsonSerializerOptions json)
    {
        (int Index, JsonPropertyInfo Member)[] members =
        [
            .. json.GetTypeInfo(type).Properties
                .Select(static member => (IndexOf(member), member))
                .Where(static one => one.Item1 is not null)
                .Select(static one => (one.Item1.GetValueOrDefault(), one.member))
                .OrderBy(static one => one.Item1),
        ];
        if (members.Length is 0 or > TimeSeriesPoint.MaxValues)
            throw new TreepieException(
                $"{type.Name} has {members.Length} properties that are values of a time series, and 1 to "
                    + $"{TimeSeriesPoint.MaxValues} are allowed. Mark them with [TimeSeriesValue(0)], "
                    + $"[TimeSeriesValue(1)] and so on.");
        for (int i = 0; i < members.Length; i++)
            Check(type, members, i);
        _members = [.. members.Select(static one => one.Member)];
    }

    /// <summary>Returns the values of an object, in the order of the entry.</summary>
    public double[] ValuesOf(object value) => [.. _members.Select(member => (double)member.Get!(value)!)]; // checked in Check

    /// <summary>Assigns the values of an entry to an object; properties without a value are unchanged, and values without a
    /// property are ignored.</summary>
    public void Fill(object value, IReadOnlyList<double> values)
    {
        for (int i = 0; i < Math.Min(values.Count, _members.Length); i++)
            _members[i].Set!(value, values[i]); // not null: checked in Check
    }

    private static int? IndexOf(JsonPropertyInfo member) =>
        member.AttributeProvider?.GetCustomAttributes(typeof(TimeSeriesValueAttribute), inherit: true) is [var found, ..]
            ? ((TimeSeriesValueAttribute)found).Index
            : null;

    private static void Check(Type type, (int Index, JsonPropertyInfo Member)[] members, int place)
    {
        (int index, JsonPropertyInfo member) = members[place];
        string name = (member.AttributeProvider as MemberInfo)?.Name ?? member.Name;
        if (index != place)
            throw new TreepieException(
                $"{type.Name}.{name} is [TimeSeriesValue({index})], and {place} is expected: the indexes of a class count from 0 "
                    + $"without a gap, each once.");
        if (member.PropertyType != typeof(double) || member.Get is null || member.Set is null)
            throw new TreepieException(
                $"{type.Name}.{name} cannot be a value of a time series: that is a double that can be read and set.");
    }
}
