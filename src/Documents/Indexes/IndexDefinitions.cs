using System.Text.Json;
using Treepie.Indexes.Definitions;

namespace Treepie.Indexes;

/// <summary>Definitions as JSON: <c>IndexDefinition.FromJson(…)</c>, <c>definition.WriteTo(…)</c>.</summary>
public static class IndexDefinitions
{
    extension(IndexDefinition definition)
    {
        /// <summary>
        /// Reads a definition in JSON:
        /// <c>{"Name":"Orders/ByCity","Collections":["Orders"],"Fields":{"City":{"Path":"ShipTo.City"}}}</c>, or with <c>Maps</c>
        /// in C# or JavaScript.
        /// </summary>
        /// <exception cref="InvalidIndexDefinitionException">It asks for what cannot be run, or is not a definition.</exception>
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

        /// <summary>Writes it as <c>FromJson</c> reads it.</summary>
        public void WriteTo(Utf8JsonWriter json)
        {
            ArgumentNullException.ThrowIfNull(json);
            IndexDefinitionJson.Write(json, definition);
        }

        /// <summary>Whether another definition makes the same index, in whichever words.</summary>
        public bool IsSameAs(IndexDefinition other)
        {
            ArgumentNullException.ThrowIfNull(other);
            return IndexDefinitionJson.AreSame(definition, other);
        }
    }
}
