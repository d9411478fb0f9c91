using System.Collections.Concurrent;
using System.Text.RegularExpressions;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// The engines of one map or reduce, one for each concurrent thread. An index is a function of its documents, so a run that
/// exceeds a time limit is repeated once with ten times the limit: a busy machine must not cause a document to be omitted.
/// Thread-safe.
/// </summary>
/// <param name="limits">The limits of the scripts.</param>
/// <param name="make">Creates an engine.</param>
internal sealed class MapEngines(ScriptLimits limits, Func<ScriptLimits, MapEngine> make)
{
    private readonly ConcurrentBag<MapEngine> _idle = [];

    /// <summary>Creates the first engine, which validates the scripts.</summary>
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

    /// <summary>Runs an engine, and reports script errors as errors of the document or group.</summary>
    /// <exception cref="ComputationException">The script failed or exceeded a limit.</exception>
    public void Run(MapOutput output, Action<MapEngine> run)
    {
        long before = output.WrittenBytes;
        try
        {
            try
            {
                MapEngine engine = _idle.TryTake(out MapEngine? idle) ? idle : make(limits);
                try
                {
                    run(engine);
                }
                catch
                {
                    engine.Dispose(); // it is not reused, as it may be in an inconsistent state
                    throw;
                }

                _idle.Add(engine);
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
