using System.Text.Json;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.Directories;
using Treepie.Indexes.Grouping;

namespace Treepie.Indexes;

/// <summary>The definitions of indexes made by queries, in the form of RavenDB's database record.</summary>
public static class AutoIndexes
{
    extension(IndexCatalogue indexes)
    {
        /// <summary>Writes an object with the definition of each index made by queries, by its name.</summary>
        public void WriteAutoIndexes(Utf8JsonWriter json)
        {
            ArgumentNullException.ThrowIfNull(json);
            json.WriteStartObject();
            foreach (IndexMapping mapping in indexes.Definitions())
            {
                if (AutoDefinitionJson.TypeOf(mapping) is null)
                    continue;
                json.WritePropertyName(mapping.Name);
                AutoDefinitionJson.Write(json, mapping, indexes.Control.Settings(mapping.Name), isRecord: true);
            }

            json.WriteEndObject();
        }

        /// <summary>
        /// Makes an index as a query would: it is extended or left alone where an index like it is there already. Thread-safe.
        /// </summary>
        /// <param name="name">Its name in the record, for messages.</param>
        /// <param name="definition">The definition, as <c>WriteAutoIndexes</c> writes it.</param>
        /// <exception cref="InvalidIndexDefinitionException">It is not the definition of such an index; nothing was
        /// changed.</exception>
        public void MakeAutoIndex(string name, JsonElement definition)
        {
            string type = definition.ValueKind == JsonValueKind.Object
                && definition.TryGetProperty("Type"u8, out JsonElement given)
                && given.ValueKind == JsonValueKind.String
                ? given.GetString()!
                : "";
            switch (type.Length > 0 ? AutoDefinitionJson.Read(definition, type) : null)
            {
                case AutoIndexDefinition fields:
                    indexes.FindOrCreate(fields.Collection, fields.Fields, out _);
                    break;
                case GroupDefinition groups:
                    indexes.FindOrCreate(groups, out _);
                    break;
                default:
                    throw new InvalidIndexDefinitionException(
                        name, "Type",
                        $"it is no index that a query can make ('Type' is '{type}'; there are {AutoDefinitionJson.AutoMap} and "
                            + $"{AutoDefinitionJson.AutoMapReduce}, with one 'Collection' and fields without options of vectors "
                            + "and places). Leave it out: queries make the indexes that they need.");
            }
        }
    }
}
