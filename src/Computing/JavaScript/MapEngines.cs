using System.Collections.Concurrent;
using System.Text.RegularExpressions;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// The engines of one map or reduce, one for each thread that runs it at a time. An index is a function of its documents: what
/// goes over a limit of time is run a second time with ten times as long, so that a busy machine does not leave a document out.
/// Thread-safe.
/// </summary>
/// <param name="limits">Limits of the scripts.</param>
/// <param name="make">Makes an engine.</param>
internal sealed class MapEngines(ScriptLimits limits, Func<ScriptLimits, MapEngine> make)
{
    private readonly ConcurrentBag<MapEngine> _idle = [];

    /// <summary>Makes the first engine, which shows whether the scripts are any.</summary>
    public MapEngine MakeFirst()
    {
        try
        {
            MapEngine first = make(limits);
            _idle.Add(first);
            return first;
        }
        catch (Exception error) when (IsOfTime(error))
        {
            return make(limits.OfBusyMachine);
        }
    }

    /// <summary>Runs one, and tells what a script does wrong as an error of its document or group.</summary>
    /// <exception cref="ComputationException">The script failed, or went over a limit.</exception>
    public void Run(MapOutput output, Action<MapEngine> run)
    {
        long before = output.WrittenBytes;
        try
        {
            try
            {
                MapEngine engine = _idle.TryTake(out MapEngine? idle) ? idle : make(limits);
                run(engine);
                _idle.Add(engine); // one that failed goes: it may be left in the middle of something
            }
            catch (Exception error) when (IsOfTime(error) && output.WrittenBytes == before)
            {
                using MapEngine patient = make(limits.OfBusyMachine);
                run(patient);
            }
        }
        catch (Exception error) when (MapScripts.MessageOf(error, limits.OfBusyMachine) is { } message)
        {
            throw new ComputationException(message, error);
        }
    }

    private static bool IsOfTime(Exception error) => error is TimeoutException or RegexMatchTimeoutException;
}
