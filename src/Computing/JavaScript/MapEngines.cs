using System.Collections.Concurrent;
using System.Text.RegularExpressions;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// The engines of one map or reduce, one for each concurrent thread. An index is a function of its documents, so a busy machine
/// must not cause a document to be omitted: a run that exceeds a time limit is repeated once with ten times the limit, and so is
/// one for which the process has no memory. Thread-safe.
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
        catch (Exception error) when (MayBeOfMachine(error))
        {
            return make(limits.OfBusyMachine);
        }
    }

    /// <summary>Runs an engine, and reports script errors as errors of the document or group.</summary>
    /// <exception cref="ComputationException">The script failed or exceeded a limit.</exception>
    /// <exception cref="OutOfMemoryException">The process has no memory for it; the script is within its limit.</exception>
    public void Run(MapOutput output, Action<MapEngine> run)
    {
        int before = output.Count;
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
            catch (Exception error) when (MayBeOfMachine(error))
            {
                output.KeepFirst(before);
                using MapEngine patient = make(limits.OfBusyMachine);
                run(patient);
            }
        }
        catch (Exception error) when (MapScripts.MessageOf(error, limits.OfBusyMachine) is { } message)
        {
            throw new ComputationException(message, error);
        }
    }

    private static bool MayBeOfMachine(Exception error) =>
        error is TimeoutException or RegexMatchTimeoutException or OutOfMemoryException;
}
