using System.Text.Json;
using Treepie.Indexes.Definitions;

namespace Treepie.Indexes;

/// <summary>
/// Reads and writes index definitions as JSON: <c>IndexDefinition.FromJson(…)</c>, <c>definition.WriteTo(…)</c>.
/// </summary>
public static class IndexDefinitions
{
    extension(IndexDefinition definition)
    {
        /// <summary>
        /// Reads a definition from JSON:
        /// <c>{"Name":"Orders/ByCity","Collections":["Orders"],"Fields":{"City":{"Path":"ShipTo.City"}}}</c>, or with <c>Maps</c>
        /// in C# or JavaScript.
        /// </summary>
        /// <exception cref="InvalidIndexDefinitionException">It is not a definition, or uses unsupported features.</exception>
        public static IndexDefinition FromJson(JsonElement json)
        {
            try
            {
                return WireDefinition.Read(json);
            }
            catch (InvalidOperationException error)
            {
                throw new InvalidIndexDefinitionException("", "Name", $"a text in it is not valid UTF-8: {error.Message}");
            }
        }

        /// <summary>Writes the definition in the form that <c>FromJson</c> reads.</summary>
        public void WriteTo(Utf8JsonWriter json)
        {
            ArgumentNullException.ThrowIfNull(json);
            IndexDefinitionJson.Write(json, definition);
        }

        /// <summary>Returns whether another definition results in the same index, even if it is written differently.</summary>
        public bool IsSameAs(IndexDefinition other)
        {
            ArgumentNullException.ThrowIfNull(other);
            return IndexDefinitionJson.AreSame(definition, other);
        }
    }
}
