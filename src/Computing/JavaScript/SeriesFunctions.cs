using System.Globalization;
using Jint;
using Jint.Native;
using Jint.Runtime;
using Jint.Runtime.Interop;
using Treepie.Computations;
using Treepie.Kinds;
using static Treepie.Computing.JavaScript.SharedFunctions;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// Creates the result of <c>timeseries(document, name)</c>, through which a script reads and changes the entries of a time
/// series.
/// </summary>
internal static class SeriesFunctions
{
    /// <summary>Creates the object.</summary>
    /// <param name="engine">The engine.</param>
    /// <param name="host">The host of the script.</param>
    /// <param name="id">The document.</param>
    /// <param name="name">The time series.</param>
    /// <param name="mostEntries">The maximum number of entries returned by one call of <c>get</c>.</param>
    public static JsObject Make(Engine engine, IScriptHost host, string id, string name, int mostEntries)
    {
        var series = new JsObject(engine);
        Define("append", 3, arguments => Add(Entry(arguments, "append"), isIncrement: false));
        Define("increment", 2, arguments => Add(EntryOfIncrement(arguments), isIncrement: true));
        Define("delete", 2, arguments =>
        {
            (DateTime from, DateTime to) = Range(arguments, "delete");
            host.ChangeTimeSeries(id, name, [], [(from, to)]);
            return JsValue.Undefined;
        });
        Define("get", 2, arguments =>
        {
            (DateTime from, DateTime to) = Range(arguments, "get");
            var entries = new List<JsValue>();
            foreach (TimeSeriesPoint point in host.TimeSeries(id, name, from, to))
            {
                if (entries.Count == mostEntries)
                    throw new ScriptException(
                        $"'get' of the time series '{name}' finds more than {mostEntries:N0} entries: give it a shorter range.");
                entries.Add(EntryOf(engine, point));
            }

            return new JsArray(engine, [.. entries]);
        });
        return series;

        void Define(string function, int parameters, Func<JsValue[], JsValue> run) =>
            series.Set(function, new ClrFunction(engine, function, (_, arguments) => run(arguments), parameters));

        JsValue Add(TimeSeriesPoint point, bool isIncrement)
        {
            if (isIncrement != name.StartsWith("INC:", StringComparison.OrdinalIgnoreCase))
                throw new ScriptException(isIncrement
                    ? $"'increment' adds to time series whose names begin with 'INC:', and not to '{name}'. Use 'append'."
                    : $"'append' does not add to '{name}', as entries of series that begin with 'INC:' are "
                        + $"sums. Use 'increment'.");
            host.ChangeTimeSeries(id, name, [point], []);
            return JsValue.Undefined;
        }
    }

    private static JsObject EntryOf(Engine engine, TimeSeriesPoint point)
    {
        var entry = new JsObject(engine);
        entry.Set("Timestamp", new JsString(ScriptDates.Format(point.Timestamp)));
        entry.Set("Values", new JsArray(engine, [.. point.Values.Select(static value => (JsValue)new JsNumber(value))]));
        entry.Set("Value", new JsNumber(point.Values[0]));
        entry.Set("Tag", point.Tag is null ? JsValue.Null : new JsString(point.Tag));
        return entry;
    }

    private static TimeSeriesPoint EntryOfIncrement(JsValue[] arguments) => arguments.Length < 2
        ? throw new ScriptException(
            "'increment' wants a time and values: timeseries(this, 'INC:Likes').increment(new Date(), [1]).")
        : Entry([arguments[0], arguments[1]], "increment");

    private static TimeSeriesPoint Entry(JsValue[] arguments, string function) => new(
        Time(arguments.At(0), function), Values(arguments.At(1), function),
        arguments.At(2).IsNull() || arguments.At(2).IsUndefined() ? null : Text(arguments.At(2), function, "the tag"));

    private static double[] Values(JsValue value, string function)
    {
        if (value is JsNumber)
            return [value.AsNumber()];
        if (value is not JsArray { Length: > 0 and <= TimeSeriesPoint.MaxValues } values
            || values.Any(static one => one is not JsNumber))
            throw new ScriptException($"'{function}' wants a number, or an array of 1 to {TimeSeriesPoint.MaxValues} numbers.");
        return [.. values.Select(static one => one.AsNumber())];
    }

    private static (DateTime From, DateTime To) Range(JsValue[] arguments, string function) => (
        arguments.At(0).IsNull() || arguments.At(0).IsUndefined() ? DateTime.MinValue : Time(arguments.At(0), function),
        arguments.At(1).IsNull() || arguments.At(1).IsUndefined() ? DateTime.MaxValue : Time(arguments.At(1), function));

    private static DateTime Time(JsValue value, string function)
    {
        if (value is JsDate date)
            return date.ToDateTime().ToUniversalTime();
        return value is JsString text
            && DateTime.TryParse(
                text.ToString(), CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal, out DateTime time)
            ? time
            : throw new ScriptException($"'{function}' wants a time, as a date or as '2026-01-31T12:00:00Z'.");
    }
}
