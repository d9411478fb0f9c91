using Treepie.Computations;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>Runs compiled source code and writes its results.</summary>
internal static class TextResults
{
    /// <param name="run">The run with its source.</param>
    /// <param name="compiled">The compiled code.</param>
    /// <param name="output">Receives the results.</param>
    /// <param name="hasDynamicFields">Whether results may have dynamic fields.</param>
    /// <exception cref="ComputationException">The code failed.</exception>
    public static void Write(Run run, Func<Run, Value> compiled, MapOutput output, bool hasDynamicFields = false)
    {
        Comparisons.Begin();
        try
        {
            foreach (Value result in run.Each(compiled(run)))
            {
                if (result.IsNothing)
                    continue;
                if (result.Kind != ValueKind.Object)
                    throw new ComputingException($"a result is {result.Describe()}; results are objects, 'new {{ … }}'.");
                JsonValues.Write(hasDynamicFields ? WithDynamicFields(result) : result, output.Buffer);
                output.EndObject();
            }
        }
        catch (ComputingException error)
        {
            throw error.AsComputation();
        }
        catch (Exception error) when (error is not (ComputationException or OperationCanceledException or OutOfMemoryException))
        {
            throw new ComputationException(error.Message, error);
        }
    }

    /// <summary>Moves dynamic fields to the member in which they are expected.</summary>
    private static Value WithDynamicFields(Value result)
    {
        if (!result.Members.All().Any(static member => IsDynamic(member.Value)))
            return result;
        var plain = new ValueObject();
        var dynamic = new List<Value>();
        foreach ((string name, Value value) in result.Members.All())
        {
            if (!IsDynamic(value))
                plain.With(name, value);
            else if (value.Kind == ValueKind.Object)
                dynamic.Add(value);
            else
                dynamic.AddRange(value.Items);
        }

        return Value.Of(plain.With(MappedField.Dynamic, Value.Of(dynamic)));
    }

    private static bool AreDynamic(Value value)
    {
        Comparisons.Count(1); // arrays may be nested
        return IsDynamic(value);
    }

    private static bool IsDynamic(Value value) => value.Kind switch
    {
        ValueKind.Object => value.Members is DynamicField,
        ValueKind.Array when value.Items is not JsonItems => value.Items.Any() && value.Items.All(AreDynamic),
        _ => false,
    };
}
